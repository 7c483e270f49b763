#!/usr/bin/env node
// The entry is not TypeScript: Node compiles what it strips types from, and whoever strips the entry keeps the stripper in memory, 15 MB a
// thread. From here on everything comes from the bundle if there is one of these very sources (`npm start` makes it), else from the sources
// themselves; and either way from the compile cache, in threads and child processes, too.
import * as module from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `Signalbox needs Node 24, and this is Node ${process.versions.node}. In a checkout npm ci installs Node 24 beside the sources; npm start and npx signalbox then use it.\n`,
  )
  process.exit(1)
}
// What takes its time comes after, so that it is not done twice.
if (process.argv[2] === 'serve') (await import('./server-process.js')).becomeServer()

const { directory } = module.enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= dirname(directory)

const { currentBundle } = await import('./bundle.js')
const bundle = currentBundle()
// Below node_modules Node strips no types.
if (bundle === undefined && /[\\/]node_modules[\\/]/.test(import.meta.dirname)) {
  process.stderr.write('This package was installed without its bundle (dist): install what npm run build and npm pack make in a checkout, or run it from there with npm start.\n')
  process.exit(1)
}
if (bundle !== undefined && process.argv[2] === 'serve') (await import('./builds.js')).keepBuilds()
const entry = bundle === undefined ? '../src/cli/run.ts' : pathToFileURL(join(bundle, 'run.js')).href
const { run } = /** @type {typeof import('../src/cli/run.ts')} */ (await import(entry).catch(whyNotLoaded))
await run(process.argv)

/** @param {Error} error */
function whyNotLoaded(error) {
  if (bundle !== undefined || !error.message.includes('Cannot find package')) throw error
  process.stderr.write('The packages are not installed yet. Run this first: npm ci\n')
  process.exit(1)
}
