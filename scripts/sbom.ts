/**
 * Writes the bill of materials of the packages that ship, as CycloneDX, from the lockfile alone:
 *
 *   node scripts/sbom.ts > sbom.json
 *
 * npm writes the bill of all packages, and this script removes those that are only for development, which packages in the console's build are not.
 * npm's own `--omit dev` would also remove shipped packages that development needs, too: half of them.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'

const ROOT = join(import.meta.dirname, '..')

export interface LockedPackage {
  readonly name: string
  /** The place of installation, from the root. */
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

/** Every package of the lockfile except the project itself. */
export function lockedPackages(): readonly LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: { [path: string]: Omit<LockedPackage, 'name' | 'path'> }
  }
  const name = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, locked]) => ({ ...locked, name: name(path), path }))
}

/** Packages that run in the gateway's process and that an operator installs. */
export const runs = ({ dev, devOptional }: LockedPackage): boolean => dev !== true && devOptional !== true

/** Packages that the console's sources import, by name: `@mantine/core` for `@mantine/core/styles.css`. */
export function importedByConsole(): ReadonlySet<string> {
  const names = new Set<string>()
  for (const file of globSync('console/src/**/*.{ts,tsx}', { cwd: ROOT, exclude: (path) => path.endsWith('.test.ts') })) {
    // Uses the compiler's scanner, because a text that shows an import is not one.
    for (const { fileName } of ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8')).importedFiles) {
      const [name] = /^(?:@[\w.-]+\/)?[a-z][\w.-]*/.exec(fileName) ?? []
      if (name !== undefined) names.add(name)
    }
  }
  return names
}

/** Packages that the console is built from, so that they run in the browsers of managers: those that its sources import, and their dependencies. */
export function consolePackages(packages: readonly LockedPackage[]): readonly LockedPackage[] {
  const byPath = new Map(packages.map((one) => [one.path, one]))
  const found = new Set<LockedPackage>()
  const add = (name: string, from: string): void => {
    // Resolves a package like Node: next to the importing package, then further up.
    for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
      const one = byPath.get(place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`)
      if (one !== undefined && !found.has(one)) {
        found.add(one)
        // Packages of types leave nothing in the build.
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
