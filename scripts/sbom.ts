/**
 * Writes the bill of materials of what ships, as CycloneDX, from the lockfile alone:
 *
 *   node scripts/sbom.ts > sbom.json
 *
 * npm writes the bill of everything, and this leaves out what is for development only. npm's own `--omit dev` also leaves out packages that
 * development needs, too: half of what ships.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

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

/** What an operator installs. */
export const ships = ({ dev, devOptional }: LockedPackage): boolean => dev !== true && devOptional !== true

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
  const shipped = new Set(
    lockedPackages()
      .filter(ships)
      .map(({ name, version }) => `${name}@${version}`),
  )
  const components = bill.components.filter(({ name, version }) => shipped.has(`${name}@${version}`))
  const kept = new Set(components.map((component) => component['bom-ref']))
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref) || !bill.components.some((component) => component['bom-ref'] === ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }))
  return { ...bill, components, dependencies }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(JSON.stringify(writeBill(), null, 2))
