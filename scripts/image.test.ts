import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const BUILD_LIMIT_MS = 100_000

/** The instructions of one kind in the build stage, without their name. */
function instructionsOf(kind: 'COPY' | 'RUN'): readonly string[] {
  const [, build = ''] = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8').split(/^FROM /m)
  return build.split('\n').flatMap((line) => (line.startsWith(`${kind} `) ? [line.slice(kind.length + 1)] : []))
}

it(
  'the files that the image build copies are enough for both bundles, each with the licences of its packages',
  () => {
    const place = mkdtempSync(join(tmpdir(), 'signalbox-image-'))
    try {
      for (const copied of instructionsOf('COPY')) {
        const parts = copied.split(' ')
        const into = parts.pop()!
        for (const part of parts) cpSync(join(ROOT, part), join(place, into === './' ? part : into), { recursive: true })
      }
      symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
      const commands = instructionsOf('RUN').flatMap((line) => line.split(' && '))
      const builds = commands.flatMap((command) => (command.startsWith('node ') ? [command.slice('node '.length)] : []))
      expect(builds).toEqual(['scripts/build.ts', 'scripts/build-console.ts'])
      for (const build of builds) execFileSync(process.execPath, [build], { cwd: place, stdio: 'pipe' })
      for (const made of ['current.json', 'console.json']) expect(existsSync(join(place, 'dist', made))).toBe(true)
      const licences = globSync('dist/*/licences.md', { cwd: place }).map((page) => readFileSync(join(place, page), 'utf8'))
      for (const shipped of ['fastify', 'react']) expect(licences.join('\n')).toMatch(new RegExp(`^## ${shipped} .*\\d`, 'm'))
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  },
  BUILD_LIMIT_MS,
)
