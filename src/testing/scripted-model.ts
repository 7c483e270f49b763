import { chatEvents, stream, type Reply, type StreamOptions } from './fake-upstream.ts'

/** What a model says in one turn, independent of any format: upstreams of either kind use the same script. */
export interface Turn {
  readonly reasoning?: string
  readonly text?: readonly string[]
  readonly refusal?: string
  readonly calls?: readonly ScriptedCall[]
  /** Whether each piece of the text has its log probability, made by `toldLogprob`. */
  readonly logprobs?: boolean
  /** The label of the message, in formats that have one. */
  readonly phase?: 'commentary' | 'final_answer'
  /** The finish reason. Default: `stop`, or `tool_calls` after calls. */
  readonly finish?: 'stop' | 'length' | 'content_filter'
  /** An error within the stream, after everything else and instead of an end. */
  readonly fails?: string
}

export interface ScriptedCall {
  readonly id: string
  readonly name: string
  /** For a tool within a namespace, in formats that have them. */
  readonly namespace?: string
  /** For a tool with free-text input. */
  readonly custom?: boolean
  /** JSON or free text, cut into the pieces in which it is streamed. */
  readonly arguments: readonly string[]
}

export const SPEAKERS = {
  'openai-chat': { path: '/chat/completions', speak: (turn: Turn, options?: StreamOptions): Reply => stream(chatTurn(turn), options) },
  'openai-responses': { path: '/responses', speak: (turn: Turn, options?: StreamOptions): Reply => stream(responsesTurn(turn), options) },
} as const

export type SpeakerName = keyof typeof SPEAKERS

/** The usage of every scripted turn, in the gateway's terms. */
export const TURN_USAGE = { input: 11, cached: 3, output: 7, reasoning: 2, total: 18 }

export const toldLogprob = (token: string): object => ({ token, logprob: -0.25, bytes: [...Buffer.from(token)], top_logprobs: [] })

// ---- chat completions ----

function chatTurn(turn: Turn): unknown[] {
  const { text = [] } = turn
  // Free text is sent as the argument of a function that stands for the tool.
  const calls = (turn.calls ?? []).map((call) =>
    call.custom === true ? { ...call, arguments: [JSON.stringify({ input: call.arguments.join('') })] } : call,
  )
  const events: unknown[] = [chatEvents.role()]
  const delta = (fields: object): object => ({ ...chatEvents.role(), choices: [{ index: 0, delta: fields, finish_reason: null }] })
  if (turn.reasoning !== undefined) events.push(chatEvents.reasoning(turn.reasoning))
  for (const piece of text) events.push(turn.logprobs === true ? withLogprob(piece) : chatEvents.text(piece))
  if (turn.refusal !== undefined) events.push(delta({ refusal: turn.refusal }))
  // Parallel calls are interleaved: heads first, then the arguments in turn.
  calls.forEach((call, index) => events.push(chatEvents.call(index, call.id, call.name, '')))
  const longest = Math.max(0, ...calls.map((call) => call.arguments.length))
  for (let piece = 0; piece < longest; piece++) {
    calls.forEach((call, index) => {
      const args = call.arguments[piece]
      if (args !== undefined) events.push(chatEvents.args(index, args))
    })
  }
  if (turn.fails !== undefined) return [...events, { error: { message: turn.fails, type: 'server_error', code: 500 } }]
  const { input, cached, output, reasoning, total } = TURN_USAGE
  return [
    ...events,
    chatEvents.finish(turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    chatEvents.usage({
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    }),
    chatEvents.done(),
  ]
}

function withLogprob(piece: string): object {
  const logprobs = { content: [toldLogprob(piece)], refusal: null }
  return { ...chatEvents.text(piece), choices: [{ index: 0, delta: { content: piece }, logprobs, finish_reason: null }] }
}

// ---- responses, with the habits of the vendor of the format: no `[DONE]`, `obfuscation`, no name in `arguments.done` ----

class ResponsesScript {
  readonly frames: string[] = []
  readonly #items: object[] = []
  #sequence = 0

  event(type: string, fields: object): void {
    this.frames.push(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...fields })}\n\n`)
  }
  /** `fill` writes the events between the opening and the closing of the item; false leaves the item open. */
  item(opened: object, done: object, fill: (place: object) => boolean | void): void {
    const place = { output_index: this.#items.length, item_id: (done as { id: string }).id }
    this.event('response.output_item.added', { output_index: place.output_index, item: opened })
    if (fill(place) === false) return
    this.event('response.output_item.done', { output_index: place.output_index, item: done })
    this.#items.push(done)
  }
  resource(status: string, fields: object = {}): object {
    return {
      id: 'resp_upstream',
      object: 'response',
      created_at: 1_700_000_000,
      model: 'small-1',
      status,
      error: null,
      incomplete_details: null,
      output: this.#items,
      usage: null,
      ...fields,
    }
  }
}

function responsesTurn(turn: Turn): unknown[] {
  const script = new ResponsesScript()
  script.event('response.created', { response: script.resource('in_progress') })
  script.event('response.in_progress', { response: script.resource('in_progress') })
  if (turn.reasoning !== undefined) speakReasoning(script, turn.reasoning)
  if (turn.text !== undefined || turn.refusal !== undefined) speakMessage(script, turn)
  turn.calls?.forEach((call, n) => speakCall(script, call, n))
  endTurn(script, turn)
  return script.frames
}

function speakReasoning(script: ResponsesScript, text: string): void {
  const id = 'rs_upstream'
  const part = { type: 'summary_text', text }
  const done = { id, type: 'reasoning', summary: [part], encrypted_content: 'gAAAA-upstream' }
  script.item({ id, type: 'reasoning', summary: [] }, done, (place) => {
    const at = { ...place, summary_index: 0 }
    script.event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } })
    script.event('response.reasoning_summary_text.delta', { ...at, delta: text, obfuscation: 'x7' })
    script.event('response.reasoning_summary_text.done', { ...at, text })
    script.event('response.reasoning_summary_part.done', { ...at, part })
  })
}

function speakMessage(script: ResponsesScript, { text = [], refusal, finish, fails, calls, phase, logprobs }: Turn): void {
  const id = 'msg_upstream'
  const whole = text.join('')
  const told = (piece: string): readonly object[] => (logprobs === true ? [toldLogprob(piece)] : [])
  const part =
    refusal === undefined ? { type: 'output_text', text: whole, annotations: [], logprobs: text.flatMap(told) } : { type: 'refusal', refusal }
  const empty = refusal === undefined ? { ...part, text: '' } : { ...part, refusal: '' }
  const opened = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [], ...(phase === undefined ? {} : { phase }) }
  const done = { ...opened, status: finish === undefined || finish === 'stop' ? 'completed' : 'incomplete', content: [part] }
  script.item(opened, done, (place) => {
    const at = { ...place, content_index: 0 }
    script.event('response.content_part.added', { ...at, part: empty })
    if (refusal === undefined) {
      for (const delta of text) script.event('response.output_text.delta', { ...at, delta, logprobs: told(delta), obfuscation: 'Qw' })
      if (fails !== undefined && calls === undefined) return false
      script.event('response.output_text.done', { ...at, text: whole, logprobs: text.flatMap(told) })
    } else {
      script.event('response.refusal.delta', { ...at, delta: refusal })
      script.event('response.refusal.done', { ...at, refusal })
    }
    script.event('response.content_part.done', { ...at, part })
  })
}

function speakCall(script: ResponsesScript, call: ScriptedCall, n: number): void {
  if (call.custom === true) return speakCustomCall(script, call, n)
  const args = call.arguments.join('')
  const { id: callId, name, namespace } = call
  const known = { call_id: callId, name, ...(namespace === undefined ? {} : { namespace }) }
  const opened = { id: `fc_upstream_${n}`, type: 'function_call', status: 'in_progress', ...known, arguments: '' }
  script.item(opened, { ...opened, status: 'completed', arguments: args }, (place) => {
    for (const delta of call.arguments) script.event('response.function_call_arguments.delta', { ...place, delta, obfuscation: 'z' })
    script.event('response.function_call_arguments.done', { ...place, arguments: args })
  })
}

function speakCustomCall(script: ResponsesScript, call: ScriptedCall, n: number): void {
  const input = call.arguments.join('')
  const opened = { id: `ctc_upstream_${n}`, type: 'custom_tool_call', status: 'in_progress', call_id: call.id, name: call.name, input: '' }
  script.item(opened, { ...opened, status: 'completed', input }, (place) => {
    for (const delta of call.arguments) script.event('response.custom_tool_call_input.delta', { ...place, delta, obfuscation: 'z' })
    script.event('response.custom_tool_call_input.done', { ...place, input })
  })
}

function endTurn(script: ResponsesScript, { finish = 'stop', fails }: Turn): void {
  if (fails !== undefined) {
    const error = { code: 'server_error', message: fails }
    script.event('response.failed', { response: script.resource('failed', { error }) })
    return
  }
  const { input, cached, output, reasoning, total } = TURN_USAGE
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total,
  }
  if (finish === 'stop') script.event('response.completed', { response: script.resource('completed', { usage }) })
  else {
    const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter'
    script.event('response.incomplete', { response: script.resource('incomplete', { usage, incomplete_details: { reason } }) })
  }
}
