import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The parts of a JSON Schema that the pages need. */
export interface Field {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly items?: Field
  readonly default?: unknown
  readonly description?: string
  readonly properties?: { readonly [name: string]: Field }
  readonly required?: readonly string[]
}

/** Text escaped for one cell of a table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** The default of a setting, as code; empty if there is none, or if it is too long to show. */
export function presetOf({ default: value }: Field, maxChars = Infinity): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > maxChars ? '' : `\`${text}\``
}

export const valuesOf = (values: readonly unknown[] | undefined): string =>
  values === undefined ? '' : ` One of ${values.map((value) => `\`${String(value)}\``).join(', ')}.`

/** Writes a generated page, or with `--check` fails if the page differs from what would be written. */
export function publish(page: string, text: string, source: string): void {
  const path = join(ROOT, page)
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.log(`${page} is not what the sources say: run node ${relative(ROOT, source)}`)
    process.exitCode = 1
  }
}
