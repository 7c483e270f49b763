import type { Note, NoteKind } from './notes.ts'

/** The note on a setting that the importer does not read, by its path with `[]` for indexes. */
export interface Advice {
  readonly kind: NoteKind
  readonly message: string
}

const UNKNOWN: Advice = { kind: 'do', message: 'has no counterpart, or is not known' }

/** Records which parts of a source were read or noted. The rest is listed at the end, so that nothing is dropped silently. */
export class Ledger {
  readonly notes: Note[] = []
  readonly #done = new Set<string>()
  readonly #opened = new Set<string>()

  open(path: string): void {
    this.#opened.add(path)
  }

  done(path: string): void {
    this.#done.add(path)
  }

  /** All notes, including those on unread parts. `advice` has the notes for known parts, by path. */
  close(root: SourcePart, advice: { readonly [path: string]: Advice }): readonly Note[] {
    this.#leftovers(root, advice)
    return this.notes
  }

  #leftovers(part: SourcePart, advice: { readonly [path: string]: Advice }): void {
    if (!part.exists || this.#done.has(part.path) || isEmpty(part.value)) return
    const children = this.#opened.has(part.path) ? [...part.members(), ...part.items()] : []
    if (children.length > 0) {
      for (const child of children) this.#leftovers(child, advice)
      return
    }
    const { kind, message } = advice[part.path.replace(/\[\d+\]/g, '[]')] ?? UNKNOWN
    part.note(kind, message)
  }
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0

/** A part of a source, with its path. Reading a value marks it as read; an unusable value is noted. */
export class SourcePart {
  readonly value: unknown
  readonly path: string
  readonly ledger: Ledger
  /** The name of this part in the mapping that contains it. */
  readonly key: string

  constructor(value: unknown, ledger: Ledger, path = '', key = '') {
    this.value = value
    this.ledger = ledger
    this.path = path
    this.key = key
  }

  get exists(): boolean {
    return this.value !== undefined && this.value !== null
  }

  get isMapping(): boolean {
    return typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value)
  }

  get isList(): boolean {
    return Array.isArray(this.value)
  }

  /** The member of that name, even if it does not exist. */
  at(key: string): SourcePart {
    const value = this.isMapping && Object.hasOwn(this.value as object, key) ? (this.value as { readonly [key: string]: unknown })[key] : undefined
    this.ledger.open(this.path)
    return new SourcePart(value, this.ledger, this.path === '' ? key : `${this.path}.${key}`, key)
  }

  /** All members, in order; none if it is not a mapping. */
  members(): readonly SourcePart[] {
    return this.isMapping ? Object.keys(this.value as object).map((key) => this.at(key)) : []
  }

  /** All items, in order; none if it is not a list. */
  items(): readonly SourcePart[] {
    if (!Array.isArray(this.value)) return []
    this.ledger.open(this.path)
    return this.value.map((item: unknown, index) => new SourcePart(item, this.ledger, `${this.path}[${index}]`))
  }

  /** The value of any type; all parts of it are marked as read. */
  take(): unknown {
    this.ledger.done(this.path)
    return this.value
  }

  /** Text; numbers are accepted too, because YAML turns some names into them. */
  text(): string | undefined {
    if (typeof this.value !== 'string' && typeof this.value !== 'number') return this.#wrong('text')
    this.take()
    return String(this.value).trim() === '' ? undefined : String(this.value).trim()
  }

  /** A number, or text with a number. */
  number(): number | undefined {
    const number = typeof this.value === 'string' && this.value.trim() !== '' ? Number(this.value) : this.value
    if (typeof number !== 'number' || !Number.isFinite(number)) return this.#wrong('a number')
    this.take()
    return number
  }

  flag(): boolean | undefined {
    const word = typeof this.value === 'string' ? this.value.toLowerCase() : this.value
    if (word !== true && word !== false && word !== 'true' && word !== 'false') return this.#wrong('true or false')
    this.take()
    return word === true || word === 'true'
  }

  /** A list of names, or a single name. */
  texts(): readonly string[] {
    if (!this.isList) return [this.text()].filter((one) => one !== undefined)
    return this.items().flatMap((item) => item.text() ?? [])
  }

  note(kind: NoteKind, message: string): void {
    this.ledger.notes.push({ kind, path: this.path, message })
    this.take()
  }

  #wrong(expected: string): undefined {
    if (this.exists) this.note('do', `left out: ${expected} was expected`)
    return undefined
  }
}
