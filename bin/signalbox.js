#!/usr/bin/env node
// The one file that is not TypeScript: Node compiles what it strips types from, and whoever strips the entry keeps the stripper in memory,
// 15 MB a thread. From here on everything comes from the compile cache, in threads and child processes, too.
import * as module from 'node:module'
import { dirname } from 'node:path'

if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(`Node 24 is needed, and this is ${process.versions.node}. It comes with the packages: npm start, npx signalbox\n`)
  process.exit(1)
}
const { directory } = module.enableCompileCache()
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= dirname(directory)

const { run } = await import('../src/cli/run.ts')
await run(process.argv)
