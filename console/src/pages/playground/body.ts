import type { Item, Run } from './run.ts'

/** The values of the form: texts as typed. */
export interface Settings {
  readonly model: string
  readonly instructions: string
  readonly temperature: string
  readonly maxOutputTokens: string
  readonly effort: string
  readonly models: readonly string[]
  /** JSON objects and arrays, or empty. */
  readonly provider: string
  readonly tools: string
  readonly stream: boolean
}

export const EMPTY: Settings = {
  model: '',
  instructions: '',
  temperature: '',
  maxOutputTokens: '',
  effort: '',
  models: [],
  provider: '',
  tools: '',
  stream: true,
}

export type Body = { readonly [member: string]: unknown }

/** One exchange: the new part of the request, and the answer. */
export interface Turn {
  readonly id: number
  /** Items that the request added to the conversation. */
  readonly input: readonly Item[]
  /** `input` was the whole conversation, because the user wrote the body as JSON. */
  readonly isWhole: boolean
  readonly body: Body
  readonly run: Run
}

export type Problems = { readonly [field in keyof Settings]?: string }

export const userMessage = (text: string): Item => ({ type: 'message', role: 'user', content: text })

/** The text that the user typed. */
export const messageOf = (input: readonly Item[]): string => input.map(({ content }) => (typeof content === 'string' ? content : '')).join('')

export const callOutput = (callId: string, output: string, type: string): Item => ({ type: `${type}_output`, call_id: callId, output })

/** Types of calls that the caller answers. */
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call'])

export interface OpenCall {
  readonly callId: string
  readonly name: string
  readonly type: string
}

/** Calls of the last answer that wait for their results: without them most providers refuse the next request. */
export function openCalls(turns: readonly Turn[]): readonly OpenCall[] {
  // A turn without an answer has not answered any of them.
  const last = turns.findLast((turn) => keptOf(turn).length > 0)
  if (last === undefined) return []
  return keptOf(last)
    .filter(({ type, call_id: callId }) => CALLS.has(type) && typeof callId === 'string')
    .map(({ type, call_id: callId, name }) => ({ type, callId: callId as string, name: typeof name === 'string' ? name : '' }))
}

/** The items of an answer that can be sent again: a partial message can, but providers do not accept a partial call or thought. */
export const keptOf = ({ run }: Turn): readonly Item[] =>
  run.items.flatMap((item) => {
    const { type, status } = item
    if (status === undefined || status === 'completed' || status === 'failed') return [item]
    if (type !== 'message' || !Array.isArray(item['content']) || item['content'].length === 0) return []
    return [{ ...item, status: 'incomplete' }]
  })

/** The conversation so far as items, since the gateway stores none. A turn without an answer is left out together with its question. */
export function historyOf(turns: readonly Turn[]): readonly Item[] {
  let items: readonly Item[] = []
  for (const turn of turns) {
    const kept = keptOf(turn)
    if (kept.length > 0) items = [...(turn.isWhole ? [] : items), ...turn.input, ...kept]
  }
  return items
}

/** The body of the request, or the problems by field. */
export function bodyOf(settings: Settings, input: readonly Item[]): { readonly body: Body; readonly problems: Problems } {
  const problems: { -readonly [field in keyof Settings]?: string } = {}
  const read = (field: 'provider' | 'tools', isRight: (value: unknown) => boolean, right: string): unknown => {
    const text = settings[field].trim()
    if (text === '') return undefined
    const value = parsed(text)
    if (value instanceof SyntaxError) problems[field] = `This is not JSON: ${value.message}`
    else if (!isRight(value)) problems[field] = right
    return value
  }
  const number = (field: 'temperature' | 'maxOutputTokens'): number | undefined => {
    const text = settings[field].trim()
    if (text !== '' && !Number.isFinite(Number(text))) problems[field] = 'Enter a number.'
    return text === '' ? undefined : Number(text)
  }
  if (settings.model.trim() === '') problems.model = 'Choose a model.'
  const members: Body = {
    model: settings.model.trim(),
    models: settings.models.length === 0 ? undefined : settings.models,
    instructions: settings.instructions.trim() === '' ? undefined : settings.instructions,
    input: inputOf(input),
    temperature: number('temperature'),
    max_output_tokens: number('maxOutputTokens'),
    reasoning: settings.effort === '' ? undefined : { effort: settings.effort },
    provider: read('provider', isObject, 'Enter an object: {"ignore": ["name"]}'),
    tools: read('tools', Array.isArray, 'Enter a list: [{"type": "gateway:datetime"}]'),
    stream: settings.stream ? true : undefined,
  }
  return { body: Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)), problems }
}

/** In the shortest form: a single question is a string. */
function inputOf(input: readonly Item[]): unknown {
  const [only] = input
  return input.length === 1 && only?.type === 'message' && only['role'] === 'user' && typeof only['content'] === 'string' ? only['content'] : input
}

/** The items of a body that the user wrote as JSON. */
export function itemsOf(body: Body): readonly Item[] {
  const { input } = body
  if (typeof input === 'string') return [userMessage(input)]
  return Array.isArray(input) ? input.filter(isObject).map((item) => ({ type: 'message', ...item })) : []
}

/** A body typed as JSON, or its syntax error. */
export function parseBody(text: string): Body | SyntaxError {
  const value = parsed(text)
  if (value instanceof SyntaxError || isObject(value)) return value
  return new SyntaxError('Enter an object')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error instanceof SyntaxError ? error : new SyntaxError(String(error))
  }
}

const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)
