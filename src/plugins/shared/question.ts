import type { InputItem, InputPart, MessageItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'

const isQuestion = (item: InputItem): item is MessageItem => item.type === 'message' && item['role'] === 'user'

/**
 * The last message that the user sent, with its index. It is found in the original request as well as in one that plugins have changed, because their
 * additions come after it. Content that plugins give the model, in a message of its own or in place of a file, is not the user's own text.
 */
export function lastQuestion({ input }: ModelRequest): { readonly index: number; readonly text: string } | undefined {
  const index = input.findLastIndex(isQuestion)
  if (index === -1) return undefined
  const text = textOf((input[index] as MessageItem).content)
  return text === '' ? undefined : { index, text }
}

/**
 * The same, without documents and search results that a front door's format keeps in user messages, because their content is not the user's own text
 * either. Undefined if the user has written nothing.
 */
export function ownQuestion(request: ModelRequest): { readonly index: number; readonly text: string } | undefined {
  const question = lastQuestion(request)
  if (question === undefined) return undefined
  const { content } = request.input[question.index] as MessageItem
  const text = typeof content === 'string' ? question.text : textOf(content.filter((part) => part.type !== 'input_text' || part.quoted !== true))
  return text === '' ? undefined : { ...question, text }
}

/** The text parts of a message's content. */
export function textOf(content: string | readonly InputPart[]): string {
  if (typeof content === 'string') return content.trim()
  return content
    .flatMap((part) => ('text' in part ? [part.text] : []))
    .join('\n')
    .trim()
}

/**
 * The request with these texts added as a message of their own after the question. What comes before the question stays as in earlier turns, for caches
 * and for the session.
 */
export function withContext(request: ModelRequest, index: number, texts: readonly string[]): ModelRequest {
  const message: MessageItem = { type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) }
  return { ...request, input: [...request.input.slice(0, index + 1), message, ...request.input.slice(index + 1)] }
}
