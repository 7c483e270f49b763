import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { consolePackages, lockedPackages, runs } from './sbom.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

it('the page counts the packages that ship', () => {
  const page = read('docs/reference/supply-chain.md')
  const [, count] = /packages that run in a gateway[^|]*\| (\d+) \|/.exec(page) ?? []
  expect(Number(count)).toBe(lockedPackages().filter(runs).length)
  const [, inConsole] = /packages the console is built of[^|]*\| (\d+) \|/.exec(page) ?? []
  expect(Number(inConsole)).toBe(consolePackages(lockedPackages()).length)
})

it('the image ends without shell, package manager and root', () => {
  const final = `FROM ${read('deploy/Dockerfile')
    .split(/^FROM /m)
    .at(-1)}`
  expect(final).toMatch(/^FROM gcr\.io\/distroless\/nodejs24[^\n]*:nonroot$/m)
  expect(final).toMatch(/^USER nonroot$/m)
  expect(final).not.toMatch(/^RUN|npm/m)
  // The image contains no packages, not even those without install scripts: their code is in the bundle.
  const copied = [...final.matchAll(/^COPY .* (\S+)$/gm)].map(([, target]) => target)
  expect(copied).toEqual(['/app/package.json', '/app/LICENSE', '/app/bin', '/app/dist', '/data'])
  // An empty directory that nonroot may write to.
  expect(final).toMatch(/^COPY --from=build --chown=65532:65532 \/empty \/data$/m)
  const installs = read('deploy/Dockerfile').match(/npm (ci|i|install).*/g)
  expect(installs).toEqual(['npm ci --ignore-scripts --no-audit --no-fund'])
})

it('the composition gives no process more than it needs', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    readonly services: Record<
      string,
      { readonly read_only?: boolean; readonly cap_drop?: readonly string[]; readonly environment: Record<string, string> }
    >
  }
  const ours = Object.entries(services).filter(([name]) => name !== 'postgres' && name !== 'redis')
  expect(ours.map(([, { environment }]) => environment['SIGNALBOX_ROLE'])).toEqual(['gateway', 'gateway', 'worker'])
  for (const [, { read_only: readOnly, cap_drop: dropped, environment }] of ours) {
    expect(readOnly).toBe(true)
    expect(dropped).toEqual(['ALL'])
    expect(environment).toHaveProperty('SIGNALBOX_SECRET_KEY')
  }
})

it('every deployment waits before it kills for as long as a stop may take, and the guide says how long that is', () => {
  const guide = read('docs/guides/operations.md')
  const [, grace, rest] = /`server\.shutdown_grace` \((\d+) s\) and (\d+) s for/.exec(guide) ?? []
  const told = [/`stop_grace_period` of the compose file are (\d+) s/, /--stop-timeout (\d+)/].map((said) => Number(said.exec(guide)?.[1]))
  const kept = [
    /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/signalbox.service')),
    /stop_grace_period: (\d+)s$/m.exec(read('deploy/compose.yaml')),
    /--stop-timeout (\d+)/.exec(read('deploy/Dockerfile')),
  ].map((found) => Number(found?.[1]))
  expect(new Set([...told, ...kept]).size).toBe(1)
  expect(told[0]).toBeGreaterThan(Number(grace) + Number(rest))
})

it('the unit runs what npm installs', () => {
  const { bin } = JSON.parse(read('package.json')) as { readonly bin: { readonly signalbox: string } }
  for (const file of ['deploy/signalbox.service', 'deploy/Dockerfile']) expect(read(file)).toContain(bin.signalbox)
})
