import type { InputText } from '../../core/item.ts'
import type { MessagesTarget } from './options.ts'

type Block = { readonly type: string; readonly [field: string]: unknown }

export const CITED = { citations: { enabled: true } }

/**
 * Text that its caller wants cited, as the block that it was in this format: a document, or a search result. Undefined if it is plain text, or has
 * only its heading lines left. https://docs.claude.com/en/docs/build-with-claude/citations
 */
export function citedText({ text, cited }: InputText, { options }: MessagesTarget): Block | undefined {
  if (cited === undefined || !options.documents) return undefined
  const above = Number(cited.titled === true) + Number(cited.sourced === true)
  const lines = text.split('\n', above)
  const rest = text.slice(lines.reduce((sum, { length }) => sum + length + 1, 0))
  if (rest.trim() === '') return undefined
  const title = cited.titled === true && lines[0] ? { title: lines[0] } : {}
  if (cited.sourced === true) return { type: 'search_result', source: lines[1], title: '', ...title, content: blocksOf(rest, cited.blocks), ...CITED }
  const source =
    cited.blocks === undefined ? { type: 'text', media_type: 'text/plain', data: rest } : { type: 'content', content: blocksOf(rest, cited.blocks) }
  return { type: 'document', source, ...title, ...CITED }
}

const textBlock = (text: string): Block => ({ type: 'text', text })

/** The original texts, because citations count them. A single text if it was changed since, or if one of them is empty, which is refused. */
function blocksOf(text: string, lengths: readonly number[] = []): readonly Block[] {
  const texts: string[] = []
  let at = 0
  for (const length of lengths) {
    texts.push(text.slice(at, at + length))
    at += length + 1
  }
  const isWhole = at === text.length + 1 && texts.join('\n') === text
  return isWhole && texts.every((one) => one.trim() !== '') ? texts.map(textBlock) : [textBlock(text)]
}
