/** The formats of the soak's calls: the same question in each, and how its answer ends. */

export interface Question {
  readonly input: string
  readonly stream: boolean
  readonly sessionId: string
  readonly withTools: boolean
}

export interface SoakDoor {
  readonly path: string
  readonly weight: number
  readonly body: (question: Question) => object
  /** Whether the text of a stream has the end that its format prescribes, for failures as well as answers. */
  readonly isEnded: (text: string) => boolean
  /** Whether a body is a refusal in this format. */
  readonly isRefusal: (text: string) => boolean
}

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }
const DONE = 'data: [DONE]\n\n'
const isOurs = (text: string): boolean => text.startsWith('{"error":{"code":')

export const DOORS: readonly SoakDoor[] = [
  {
    path: '/api/v1/responses',
    weight: 70,
    body: ({ input, stream, sessionId, withTools }) => ({
      model: 'acme/small',
      input,
      stream,
      session_id: sessionId,
      ...(withTools ? { tools: [{ type: 'function', name: 'look_up', parameters: PARAMETERS }] } : {}),
    }),
    isEnded: (text) => /"type":"response\.(completed|failed|incomplete)"/.test(text) && text.endsWith(DONE),
    isRefusal: isOurs,
  },
  {
    path: '/api/v1/chat/completions',
    weight: 15,
    body: ({ input, stream, sessionId, withTools }) => ({
      model: 'acme/small',
      messages: [{ role: 'user', content: input }],
      stream,
      session_id: sessionId,
      ...(withTools ? { tools: [{ type: 'function', function: { name: 'look_up', parameters: PARAMETERS } }] } : {}),
    }),
    isEnded: (text) => /"finish_reason":"\w+"/.test(text) && text.endsWith(DONE),
    isRefusal: isOurs,
  },
  {
    path: '/api/v1/messages',
    weight: 15,
    body: ({ input, stream, sessionId, withTools }) => ({
      model: 'acme/small',
      max_tokens: 4_096,
      messages: [{ role: 'user', content: input }],
      stream,
      session_id: sessionId,
      ...(withTools ? { tools: [{ name: 'look_up', input_schema: PARAMETERS }] } : {}),
    }),
    isEnded: (text) => /(?:^|\n)event: (?:message_stop|error)\ndata: [^\n]*\n\n$/.test(text),
    isRefusal: (text) => text.startsWith('{"type":"error"'),
  },
]
