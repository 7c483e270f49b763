/**
 * Writes the bill of materials of what ships, as CycloneDX, from the lockfile alone:
 *
 *   node scripts/sbom.ts > sbom.json
 *
 * npm writes the bill of everything, and this leaves out what is for development only; what the console is built of is not. npm's own `--omit dev` also leaves out packages that
 * development needs, too: half of what ships.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'

const ROOT = join(import.meta.dirname, '..')

export interface LockedPackage {
  readonly name: string
  /** Where it is installed, from the root. */
  readonly path: string
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: { readonly [name: string]: string }
  readonly peerDependencies?: { readonly [name: string]: string }
}

/** Every package of the lockfile but the project itself. */
export function lockedPackages(): readonly LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: { [path: string]: Omit<LockedPackage, 'name' | 'path'> }
  }
  const name = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, locked]) => ({ ...locked, name: name(path), path }))
}

/** What runs in the process of a gateway, and an operator installs. */
export const runs = ({ dev, devOptional }: LockedPackage): boolean => dev !== true && devOptional !== true

/** Packages the console's sources import, by name: `@mantine/core` of `@mantine/core/styles.css`. */
export function importedByConsole(): ReadonlySet<string> {
  const names = new Set<string>()
  for (const file of globSync('console/src/**/*.{ts,tsx}', { cwd: ROOT, exclude: (path) => path.endsWith('.test.ts') })) {
    // By the compiler's own scanner: a text that shows an import is none.
    for (const { fileName } of ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8')).importedFiles) {
      const [name] = /^(?:@[\w.-]+\/)?[a-z][\w.-]*/.exec(fileName) ?? []
      if (name !== undefined) names.add(name)
    }
  }
  return names
}

/** What the console is built of, and so runs in the browsers of those who manage: what its sources import, and what that needs. */
export function consolePackages(packages: readonly LockedPackage[]): readonly LockedPackage[] {
  const byPath = new Map(packages.map((one) => [one.path, one]))
  const found = new Set<LockedPackage>()
  const add = (name: string, from: string): void => {
    // As Node looks for it: beside whoever asks, then further up.
    for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
      const one = byPath.get(place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`)
      if (one !== undefined && !found.has(one)) {
        found.add(one)
        // Types are packages, too, of which nothing is left in what is built.
        const needs = Object.keys({ ...one.dependencies, ...one.peerDependencies }).filter((need) => !need.startsWith('@types/'))
        for (const need of needs) add(need, one.path)
      }
      if (one !== undefined || place === '') return
    }
  }
  for (const name of importedByConsole()) add(name, '')
  return [...found]
}

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
}
export interface Bill {
  readonly bomFormat: string
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

export function writeBill(): Bill {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--offline']
  const text = execFileSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  })
  const bill = JSON.parse(text) as Bill
  const packages = lockedPackages()
  const shipped = new Set([...packages.filter(runs), ...consolePackages(packages)].map(({ name, version }) => `${name}@${version}`))
  const components = bill.components.filter(({ name, version }) => shipped.has(`${name}@${version}`))
  const kept = new Set(components.map((component) => component['bom-ref']))
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref) || !bill.components.some((component) => component['bom-ref'] === ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }))
  return { ...bill, components, dependencies }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(JSON.stringify(writeBill(), null, 2))
