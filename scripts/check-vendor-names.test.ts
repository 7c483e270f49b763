import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { findVendorNames } from './check-vendor-names.ts'

const trees: string[] = []

function tree(files: { readonly [path: string]: string }): string {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-names-'))
  trees.push(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

afterEach(() => {
  for (const root of trees.splice(0)) rmSync(root, { recursive: true, force: true })
})

const acme = { 'src/providers/acme.ts': `export const acme = { slug: 'acme' }\n` }

describe('findVendorNames', () => {
  it('finds a branch on a vendor’s name outside its file', () => {
    const root = tree({ ...acme, 'src/router/rank.ts': `\nexport const boost = (p: string) => p === 'acme'\n` })
    expect(findVendorNames(root)).toEqual([{ file: 'src/router/rank.ts', line: 2, literal: 'acme', owner: 'src/providers/acme' }])
  })

  it('sees template literals and literal types', () => {
    const root = tree({ ...acme, 'src/http/a.ts': 'export const x = `acme`\n', 'src/http/b.ts': `export type Vendor = 'acme' | 'other'\n` })
    expect(findVendorNames(root).map(({ file }) => file)).toEqual(['src/http/a.ts', 'src/http/b.ts'])
  })

  it('sees names that are spelt in escapes, or over two lines', () => {
    const root = tree({
      ...acme,
      'src/http/a.ts': `export const x = '\\x61cme'\n`,
      'src/http/b.ts': `export const x = 'a\\cme'\n`,
      'src/http/c.ts': `export const x = 'ac\\\nme'\n`,
    })
    expect(findVendorNames(root).map(({ file }) => file)).toEqual(['src/http/a.ts', 'src/http/b.ts', 'src/http/c.ts'])
  })

  it('allows the name in the vendor’s own file, catalog data, tests, fakes and imports', () => {
    const root = tree({
      ...acme,
      'src/providers/index.ts': `import { acme } from './acme.ts'\nexport const all = [acme]\n`,
      'src/catalog/builtin-models.ts': `export const models = { 'acme/small': 'acme' }\n`,
      'src/router/rank.test.ts': `export const name = 'acme'\n`,
      'src/testing/fake.ts': `export const name = 'acme'\n`,
      'src/store/db.ts': `import * as driver from 'acme'\nexport const db = driver\n`,
      'src/router/word.ts': `export const text = 'acme is a word in a sentence'\n`,
    })
    expect(findVendorNames(root)).toEqual([])
  })

  it('allows names of vendors in the names.ts of an importer, and branches on them no more than elsewhere', () => {
    const root = tree({
      ...acme,
      'src/importers/other/names.ts': `export const PREFIXES = { acme_ai: 'acme' }\n`,
      'src/importers/other/index.ts': `export const quirk = (p: string) => p === 'acme'\n`,
    })
    expect(findVendorNames(root).map(({ file }) => file)).toEqual(['src/importers/other/index.ts'])
  })

  it('lets a vendor’s declaration point at another’s price list and author', () => {
    const root = tree({
      ...acme,
      'src/providers/acme-eu.ts': `export const eu = { slug: 'acme-eu', priceProvider: 'acme', models: { author: 'acme' } }\n`,
      'src/router/price.ts': `export const data = { priceProvider: 'acme' }\n`,
    })
    expect(findVendorNames(root).map(({ file }) => file)).toEqual(['src/router/price.ts'])
  })

  it('recognises tools by their name on the wire only: their bare names are ordinary words', () => {
    const root = tree({
      'src/tools/files.ts': 'export const files = 1\n',
      'src/http/a.ts': `export const a = 'files'\n`,
      'src/http/b.ts': `export const b = 'gateway:files'\n`,
    })
    expect(findVendorNames(root).map(({ file }) => file)).toEqual(['src/http/b.ts'])
  })

  it('checks the console, in plain texts and in JSX', () => {
    const root = tree({
      ...acme,
      'src/destinations/lake.ts': `export const type = 'lake'\n`,
      'console/src/pages/a.ts': `export const isLake = (type: string) => type === 'lake'\n`,
      'console/src/pages/b.tsx': `export const View = () => <b title="acme">acme</b>\n`,
      'console/src/pages/a.test.ts': `export const name = 'lake'\n`,
      'console/src/api/schema.ts': `export type Type = 'lake'\n`,
    })
    expect(findVendorNames(root).map(({ file, literal }) => [file, literal])).toEqual([
      ['console/src/pages/a.ts', 'lake'],
      ['console/src/pages/b.tsx', 'acme'],
    ])
  })

  it('treats a folder with an index file as an extension of that name', () => {
    const root = tree({
      'src/destinations/lake/index.ts': `export const type = 'lake'\n`,
      'src/destinations/lake/sign.ts': `export const name = 'lake'\n`,
      'src/delivery/a.ts': `export const b = 'lake'\n`,
    })
    expect(findVendorNames(root).map(({ file }) => file)).toEqual(['src/delivery/a.ts'])
  })
})
