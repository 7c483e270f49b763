import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifies } from '../e2e/requirements.ts'
import { consolePackages, importedByConsole, lockedPackages, runs, writeBill } from './sbom.ts'

/** What an install may bring in, read from the lockfile alone, so that it applies to every machine. */

interface Manifest {
  readonly dependencies: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  readonly scripts: { readonly [name: string]: string }
  readonly allowScripts: { readonly [name: string]: boolean }
}

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as Manifest
const packages = lockedPackages()
const running = packages.filter(runs)
const inConsole = consolePackages(packages)
const shipped = [...new Set([...running, ...inConsole])]

/** Raise one only with a reason in the commit: every package is foreign code in a process that holds keys. */
const MOST_PACKAGES = 140
const MOST_DIRECT = 22
/** These run in a browser that holds a management key. */
const MOST_IN_CONSOLE = 40

/** Licences that allow use in a product under Apache-2.0 without conditions beyond a notice. */
const ALLOWED = /^(0BSD|Apache-2\.0|BlueOak-1\.0\.0|BSD-2-Clause|BSD-3-Clause|CC0-1\.0|ISC|MIT|MIT-0|Python-2\.0|Unlicense|WTFPL)$/
const isAllowed = (license: string | undefined): boolean =>
  license !== undefined &&
  license
    .replace(/^\(|\)$/g, '')
    .split(' OR ')
    .some((each) => each.split(' AND ').every((one) => ALLOWED.test(one)))

describe('an install', () => {
  it(verifies('J1', 'has exact versions with checksums, all from the registry'), () => {
    expect(packages.length).toBeGreaterThan(100)
    for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies }))
      expect(version).toMatch(/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/)
    expect(packages.filter(({ integrity }) => !/^sha512-[\w+/=]{80,}/.test(integrity ?? '')).map(({ path }) => path)).toEqual([])
    expect(packages.filter(({ resolved, link }) => resolved !== undefined || link === true).map(({ path }) => path)).toEqual([])
  })

  it(verifies('J1', 'runs no script but that of the pinned runtime, and the project has none of its own'), () => {
    const scripted = packages.filter(({ hasInstallScript }) => hasInstallScript === true)
    const allowed = Object.entries(manifest.allowScripts).filter(([, allow]) => allow)
    expect(allowed.map(([name]) => name)).toEqual(['node'])
    // A package with a script that is neither allowed nor refused by name would cause a question at the next install. fsevents is for macOS only.
    expect(scripted.map(({ name }) => name).filter((name) => !(name in manifest.allowScripts) && name !== 'fsevents')).toEqual([])
    expect(shipped.filter(({ hasInstallScript }) => hasInstallScript === true).map(({ name }) => name)).toEqual([])
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$|^prepare$|^(pre|post)(pack|publish)$/.test(name))).toEqual([])
  })

  it(verifies('J1', 'stays within the budget of packages'), () => {
    expect(running.length).toBeLessThanOrEqual(MOST_PACKAGES)
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(MOST_DIRECT)
    expect(inConsole.length).toBeLessThanOrEqual(MOST_IN_CONSOLE)
  })

  it(verifies('J1', 'knows what the console is built of'), () => {
    const names = inConsole.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([...importedByConsole()]))
    // Our sources do not import these, but they are in every page.
    expect(names).toEqual(expect.arrayContaining(['react-dom', 'scheduler', '@floating-ui/react', '@tanstack/query-core']))
    for (const name of ['vite', 'vitest', 'playwright-core', 'node']) expect(names).not.toContain(name)
  })
})

describe('every package that ships', () => {
  it(verifies('J5', 'has a licence that allows it'), () => {
    expect(shipped.filter(({ license }) => !isAllowed(license)).map(({ path, license }) => `${path}: ${license ?? 'no licence'}`)).toEqual([])
  })
  it(verifies('J5', 'and every development dependency has a permissive or weak copyleft licence'), () => {
    expect(packages.filter(({ license }) => /\b(A?GPL|SSPL|BUSL|UNLICENSED)/.test(license ?? '')).map(({ path }) => path)).toEqual([])
  })
})

describe('the bill of materials', () => {
  it(verifies('J2', 'is written from the lockfile, without a network, and names every package that ships and no other'), { timeout: 60_000 }, () => {
    const bill = writeBill()
    const named = new Set(bill.components.map(({ name, version }) => `${name}@${version}`))
    // The lockfile also has packages for other machines, which are not in this machine's bill.
    expect(shipped.filter(({ name, version, optional }) => optional !== true && !named.has(`${name}@${version}`)).map(({ path }) => path)).toEqual([])
    expect([...named].filter((each) => !shipped.some(({ name, version }) => `${name}@${version}` === each))).toEqual([])
    expect(bill.bomFormat).toBe('CycloneDX')
  })
})
