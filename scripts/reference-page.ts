import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** What pages need of a JSON Schema. */
export interface Field {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly items?: Field
  readonly default?: unknown
  readonly description?: string
  readonly properties?: { readonly [name: string]: Field }
  readonly required?: readonly string[]
}

/** Text as it can stand in one cell of a table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** What a setting is when nobody sets it, as code; empty when there is nothing, or too much to show. */
export function presetOf({ default: value }: Field, maxChars = Infinity): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > maxChars ? '' : `\`${text}\``
}

export const valuesOf = (values: readonly unknown[] | undefined): string =>
  values === undefined ? '' : ` One of ${values.map((value) => `\`${String(value)}\``).join(', ')}.`

/** Writes a generated page, or with `--check` fails when it is not what would be written. */
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
