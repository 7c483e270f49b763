/** The parts of a chat-completions body that the demo models read. */
export interface Prompt {
  readonly model: string
  readonly stream: boolean
  /** Text of the last user message, with its parts joined. */
  readonly lastUserText: string
  /** Tool results after the last user message. */
  readonly toolResults: readonly string[]
  /** The tool that the model should call: the one that is named, or else the first; undefined if none is offered or wanted. */
  readonly tool: { readonly name: string; readonly parameters: unknown } | undefined
  readonly schema: unknown
  readonly reasons: boolean
  readonly maxTokens: number
  /** An estimate of four characters per token, over the whole body. */
  readonly promptTokens: number
}

type Fields = { readonly [key: string]: unknown }

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const entries = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Throws SyntaxError if the body is not JSON. */
export function readPrompt(body: string): Prompt {
  const request = fields(JSON.parse(body))
  const messages = entries(request['messages']).map(fields)
  const lastUser = messages.findLastIndex((message) => message['role'] === 'user')
  const format = fields(request['response_format'])
  return {
    model: String(request['model']),
    stream: request['stream'] === true,
    lastUserText: lastUser < 0 ? '' : textOf(messages[lastUser]?.['content']),
    toolResults: messages
      .slice(lastUser + 1)
      .filter((message) => message['role'] === 'tool')
      .map((message) => textOf(message['content'])),
    tool: chooseTool(entries(request['tools']).map(fields), request['tool_choice']),
    schema: fields(format['json_schema'])['schema'],
    reasons: request['reasoning_effort'] !== 'none',
    maxTokens: limitOf(request['max_completion_tokens'] ?? request['max_tokens']),
    promptTokens: Math.ceil(messages.reduce((sum, message) => sum + textOf(message['content']).length, 0) / 4),
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return entries(content)
    .map((part) => fields(part)['text'])
    .filter((text) => typeof text === 'string')
    .join('\n')
}

function chooseTool(tools: readonly Fields[], choice: unknown): Prompt['tool'] {
  if (choice === 'none') return undefined
  const functions = tools.map((tool) => fields(tool['function']))
  const wanted = fields(fields(choice)['function'])['name']
  const found = wanted === undefined ? functions[0] : functions.find((tool) => tool['name'] === wanted)
  return found === undefined ? undefined : { name: String(found['name']), parameters: found['parameters'] }
}

function limitOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : Infinity
}
