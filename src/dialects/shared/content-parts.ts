import type { EncryptedContent, InputAudio, InputFile, InputImage, InputItem, InputPart, InputText, InputVideo } from '../../core/item.ts'
import { noteOfEmptyFile } from './file-data.ts'

/** What a message of the user or the result of a tool may contain. Texts are never empty. */
export type ContentPart = InputText | InputImage | InputFile | InputAudio | InputVideo

const ENCRYPTED: InputText = { type: 'input_text', text: '[Encrypted content left out: this model cannot read it]' }

/**
 * Content of any role as parts the user could have sent: texts of the assistant become plain texts, and empty ones vanish. Encrypted content is for
 * those who can open it (the native format, which sends items unchanged); for all others it becomes a note.
 */
export function contentParts(content: string | readonly (InputPart | EncryptedContent)[]): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'input_text', text: content }]
  const parts: ContentPart[] = []
  for (const part of content) {
    switch (part.type) {
      case 'input_text':
        if (part.text !== '') parts.push(part)
        break
      case 'output_text':
        if (part.text !== '') parts.push({ type: 'input_text', text: part.text })
        break
      case 'refusal':
        if (part.refusal !== '') parts.push({ type: 'input_text', text: part.refusal })
        break
      case 'encrypted_content':
        parts.push(ENCRYPTED)
        break
      case 'input_file':
        parts.push(noteOfEmptyFile(part) ?? part)
        break
      default:
        parts.push(part)
    }
  }
  return parts
}

/** All parts of messages and of results of tools. Items of unknown types are not validated, so whatever is no part is skipped. */
export function visitParts(input: readonly InputItem[], visit: (part: ContentPart) => void): void {
  for (const item of input) {
    const parts: unknown = 'content' in item ? item['content'] : 'output' in item ? item['output'] : undefined
    if (!Array.isArray(parts)) continue
    for (const part of parts as readonly unknown[]) if (isPart(part)) visit(part)
  }
}

const WORDS = ['image_url', 'video_url', 'file_data', 'file_url', 'filename'] as const

function isPart(value: unknown): value is ContentPart {
  if (typeof value !== 'object' || value === null) return false
  const fields = value as { readonly [field: string]: unknown }
  return fields['type'] === 'input_text' || WORDS.every((name) => fields[name] == null || typeof fields[name] === 'string')
}

/** The texts of a message in one string, refusals included. */
export function textOf(content: string | readonly (InputPart | EncryptedContent)[]): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'refusal' ? part.refusal : 'text' in part ? part.text : '')).join('')
}

/** The text of parts, joined by blank lines; media are left out. */
export function joinTexts(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n\n')
}
