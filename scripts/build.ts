/**
 * Bundles the sources and their packages. `bin/signalbox.js` prefers the bundle to the files: half of the files' start-up time and a fifth of the
 * memory at rest are spent on loading twelve hundred modules twice (decision 95).
 *
 *   npm run build                      always
 *   node scripts/build.ts --if-stale   as `npm start` and the tests do
 *
 * Every build has its own folder, and a pointer to it is replaced atomically. A gateway that runs from the previous build still finds the files that
 * it loads late.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { removeOldBuilds } from '../bin/builds.js'
import { BUNDLES, currentBundle, fingerprint } from '../bin/bundle.js'
import { bundledLicences } from './bundled-licences.ts'

const ROOT = join(import.meta.dirname, '..')
/** The entry points: the command, and the threads, which the sources look for under these names next to their own file. */
const ENTRIES = {
  run: join(ROOT, 'src/cli/run.ts'),
  'delivery-worker': join(ROOT, 'src/wiring/delivery-worker.ts'),
  'parse-worker': join(ROOT, 'src/tools/shared/parse-worker.ts'),
}
/** Optional dependencies of packages, which they try to load and which are not installed. */
const ABSENT = ['pg-native', 'pg-cloudflare', 'pino-pretty']

/**
 * V8 stores a source with a single character beyond Latin-1 with two bytes per character. Once comments are removed, such characters occur only in
 * literals.
 */
const inAscii = (code: string): string => code.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

async function bundleInto(folder: string): Promise<number> {
  const bundle = await rolldown({ input: ENTRIES, platform: 'node', external: [...builtinModules, /^node:/, ...ABSENT], logLevel: 'warn' })
  try {
    // Names of functions and classes stay for the stack traces of errors. Names of variables and the layout do not, because each thread keeps the
    // text in memory.
    const { output } = await bundle.generate({
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      minify: { compress: true, mangle: { toplevel: true, keepNames: true }, codegen: { removeWhitespace: true, legalComments: 'none' } },
    })
    mkdirSync(folder, { recursive: true })
    let bytes = 0
    for (const file of output) {
      const text = file.type === 'chunk' ? inAscii(file.code) : file.source
      writeFileSync(join(folder, file.fileName), text)
      bytes += text.length
    }
    writeFileSync(join(folder, 'licences.md'), bundledLicences(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))))
    return bytes
  } finally {
    await bundle.close()
  }
}

/** All bundles in `dist`, newest first. */
function bundlesByAge(): readonly string[] {
  const made = readdirSync(BUNDLES).filter((name) => /^[0-9a-f]{12}$/.test(name))
  const byAge = made.map((name) => ({ name, at: statSync(join(BUNDLES, name)).mtimeMs })).toSorted((a, b) => b.at - a.at)
  return byAge.map(({ name }) => name)
}

if (process.argv.includes('--if-stale') && currentBundle() !== undefined) process.exit(0)
const started = performance.now()
const sources = fingerprint() ?? ''
const folder = createHash('sha256').update(`${sources} ${Date.now()}`).digest('hex').slice(0, 12)
const bytes = await bundleInto(join(BUNDLES, folder))
writeFileSync(join(BUNDLES, 'package.json'), '{ "type": "module" }\n')
writeFileSync(join(BUNDLES, 'next.json'), `${JSON.stringify({ sources, folder })}\n`)
renameSync(join(BUNDLES, 'next.json'), join(BUNDLES, 'current.json'))
removeOldBuilds(bundlesByAge())
console.log(`bundled into dist/${folder}: ${(bytes / 1e6).toFixed(1)} MB in ${((performance.now() - started) / 1000).toFixed(1)} s`)
