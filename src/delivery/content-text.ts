import type { GenerationContent } from '../core/generation.ts'
import type { InputItem } from '../core/item.ts'

/** The texts of a conversation, joined for filter rules. Collected up to `maxChars`. */
export function inputText(content: GenerationContent, maxChars: number): string {
  const out = collector(maxChars)
  if (content.instructions) out.add(content.instructions)
  for (const item of content.input) addItem(item, out)
  return out.text()
}

export function outputText(content: GenerationContent, maxChars: number): string {
  const out = collector(maxChars)
  for (const item of content.output) addItem(item, out)
  return out.text()
}

interface Collector {
  add(text: string): void
  readonly full: boolean
  text(): string
}

function collector(maxChars: number): Collector {
  const parts: string[] = []
  let size = 0
  return {
    add(text) {
      if (text === '' || size >= maxChars) return
      parts.push(text.length > maxChars - size ? text.slice(0, maxChars - size) : text)
      size += text.length + 1
    },
    get full() {
      return size >= maxChars
    },
    text: () => parts.join('\n'),
  }
}

/** Fields that hold text, in the items and parts of the contract. */
const WORDS = [
  'text',
  'refusal',
  'arguments',
  'input',
  'output',
  'content',
  'summary',
  // What shells, patches, searches and interpreters were asked and returned.
  'command',
  'commands',
  'diff',
  'query',
  'queries',
  'code',
  'stdout',
  'stderr',
  'logs',
  'outputs',
  'results',
] as const
/** Objects that hold such fields. As a text it is a word of the contract. */
const HOLDERS = ['action', 'actions', 'operation'] as const

function addItem(item: InputItem, out: Collector): void {
  addWords(item, out, 0)
}

function addWords(value: unknown, out: Collector, depth: number): void {
  if (out.full || depth > 8) return
  if (typeof value === 'string') out.add(value)
  else if (Array.isArray(value)) for (const element of value) addWords(element, out, depth + 1)
  else if (typeof value === 'object' && value !== null) {
    for (const field of WORDS) {
      const words = (value as { readonly [key: string]: unknown })[field]
      if (words !== undefined && words !== null) addWords(words, out, depth + 1)
    }
    for (const field of HOLDERS) {
      const holder = (value as { readonly [key: string]: unknown })[field]
      if (typeof holder === 'object' && holder !== null) addWords(holder, out, depth + 1)
    }
  }
}
