import type { InputItem, InputPart, MessageItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'

const isQuestion = (item: InputItem): item is MessageItem => item.type === 'message' && item['role'] === 'user'

/**
 * The user's last message in the original request, and its place; also in a request that plugins have extended since, whose additions come after it.
 * What plugins add, as a message or in place of a file, is not the user's.
 */
export function lastQuestion({ input }: ModelRequest): { readonly index: number; readonly text: string } | undefined {
  const index = input.findLastIndex(isQuestion)
  if (index === -1) return undefined
  const text = textOf((input[index] as MessageItem).content)
  return text === '' ? undefined : { index, text }
}

/**
 * The same without documents and search results that a front door's format keeps in user messages, as these are not the user's words. Undefined if
 * the user has written nothing.
 */
export function ownQuestion(request: ModelRequest): { readonly index: number; readonly text: string } | undefined {
  const question = lastQuestion(request)
  if (question === undefined) return undefined
  const { content } = request.input[question.index] as MessageItem
  const text = typeof content === 'string' ? question.text : textOf(content.filter((part) => part.type !== 'input_text' || part.quoted !== true))
  return text === '' ? undefined : { ...question, text }
}

/** What of a message's content is text. */
export function textOf(content: string | readonly InputPart[]): string {
  if (typeof content === 'string') return content.trim()
  return content
    .flatMap((part) => ('text' in part ? [part.text] : []))
    .join('\n')
    .trim()
}

/**
 * The request with these texts given to the model as a message of their own. They come behind the question: what stands before it stays
 * as it was in earlier turns, in caches and for the session.
 */
export function withContext(request: ModelRequest, index: number, texts: readonly string[]): ModelRequest {
  const message: MessageItem = { type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) }
  return { ...request, input: [...request.input.slice(0, index + 1), message, ...request.input.slice(index + 1)] }
}
