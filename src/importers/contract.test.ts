import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { contextOf, problemsOf, written } from '../cli/import.ts'
import { parseSource } from '../config/source.ts'
import { isGatewayError } from '../core/error.ts'
import { IMPORTERS } from './index.ts'
import type { ImportContext, Imported, Importer } from './shared/importer.ts'

/** Requirements on every importer, tested with each configuration in its `__fixtures__`. */
const FIXTURES = IMPORTERS.flatMap((importer) => {
  const folder = join(import.meta.dirname, importer.name, '__fixtures__')
  return readdirSync(folder).map((file) => ({ importer, name: `${importer.name}/${file}`, path: join(folder, file) }))
})

const NOW = Date.parse('2026-11-01')
let context: ImportContext
beforeAll(async () => {
  context = await contextOf(NOW)
})

type Path = readonly (string | number)[]
const spelled = (path: Path): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')

/** Every value in a tree, including mappings and lists, with its path. */
function* valuesOf(value: unknown, path: Path = []): Generator<readonly [Path, unknown]> {
  yield [path, value]
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* valuesOf(item, [...path, index])
  else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) yield* valuesOf(item, [...path, key])
}

/** A copy of the tree with another value at the path. */
function changed(tree: unknown, path: Path, to: unknown): unknown {
  const [part, ...rest] = path
  if (part === undefined) return to
  if (Array.isArray(tree)) return tree.map((item: unknown, index) => (index === part ? changed(item, rest, to) : item))
  return { ...(tree as object), [part]: changed((tree as { readonly [key: string]: unknown })[part], rest, to) }
}

/** Alternatives to a value: if none of them changes the result, nothing reads the value. */
function others(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value]
  return typeof value === 'number' ? [value * 2 + 3, 0] : [`${String(value)}x`, `x${String(value)}`]
}

/** Whether there is a note on the path, or on something that contains it. */
const isTold = ({ notes }: Imported, path: string): boolean =>
  notes.some((note) => path === note.path || (path.startsWith(note.path) && /^[.[]/.test(path.slice(note.path.length))))

const read = (importer: Importer, tree: unknown): Imported => importer.read(tree, context)
const outcome = (importer: Importer, tree: unknown): string => {
  try {
    return JSON.stringify(read(importer, tree))
  } catch (error) {
    if (isGatewayError(error)) return error.message
    throw error
  }
}

describe.each(FIXTURES)('$name', ({ importer, path }) => {
  const { tree } = parseSource(readFileSync(path, 'utf8'), path)

  it('becomes a configuration that loads', async () => {
    const { file } = read(importer, tree)
    expect(await problemsOf(file, written(file, importer, path), {})).toEqual([])
    expect(file.providers.length).toBeGreaterThan(0)
  })

  it('loses nothing silently: every setting without a note changes the result', () => {
    const imported = read(importer, tree)
    const before = JSON.stringify(imported)
    const silent = [...valuesOf(tree)]
      .filter(([, value]) => value !== null && typeof value !== 'object')
      .filter(([at]) => !isTold(imported, spelled(at)))
      .filter(([at, value]) => others(value).every((one) => outcome(importer, changed(tree, at, one)) === before))
    expect(silent.map(([at, value]) => `${spelled(at)}: ${JSON.stringify(value)}`)).toEqual([])
  })

  it('reports unknown settings at any place', () => {
    const mappings = [...valuesOf(tree)].filter(([, value]) => typeof value === 'object' && value !== null && !Array.isArray(value))
    const silent = mappings.filter(([at, value]) => {
      const planted = changed(tree, at, { ...(value as object), zz_planted: 'planted value' })
      const imported = read(importer, planted)
      return !isTold(imported, spelled([...at, 'zz_planted'])) && !JSON.stringify(imported.file).includes('planted value')
    })
    expect(silent.map(([at]) => spelled(at))).toEqual([])
  })

  it('survives any value in any place', () => {
    for (const [at] of valuesOf(tree))
      for (const value of [null, [], {}, 'text', 7, [[]], { a: { b: 1 } }]) outcome(importer, changed(tree, at, value))
  })

  it('shows no possible secret in its notes', () => {
    const secrets = [...valuesOf(tree)].filter(([at]) => /key|token|secret|password|url/i.test(String(at.at(-1)))).map(([, value]) => value)
    const said = read(importer, tree)
      .notes.map(({ message }) => message)
      .join('\n')
    for (const secret of secrets) if (typeof secret === 'string' && !/^(os\.environ\/|env\.)/.test(secret)) expect(said).not.toContain(secret)
  })
})

describe.each(IMPORTERS.map((importer) => [importer.title, importer] as const))('%s', (_, importer) => {
  it.each([[undefined], [null], ['text'], [[]], [{}], [{ anything: 1 }]])('refuses files of other formats: %j', (tree) => {
    expect(() => read(importer, tree)).toThrow(importer.title)
  })
})
