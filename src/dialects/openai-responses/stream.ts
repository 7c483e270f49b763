import type { Decoder, Target } from '../../core/dialect.ts'
import type { FinishReason, ModelEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/item.ts'
import { asksToPrewarm } from '../../core/prewarm.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { Usage } from '../../core/usage.ts'
import { createSseParser, SseLimitError } from '../../lib/sse.ts'
import { brokenAnswer, emptyAnswer } from '../shared/errors.ts'
import { runsAlone } from '../shared/usage-counts.ts'
import { parseAnswer } from '../shared/exact-json.ts'
import { asString, isObject } from '../shared/json.ts'
import { wantsSealedReasoning } from '../shared/reasoning-replay.ts'
import { Answer } from './answer.ts'
import { partIndex, readLogprobs, readPart } from './content-parts.ts'
import { cutReason, stoppedOf } from './ending.ts'
import { streamError } from './error.ts'
import type { ResponsesOptions } from './options.ts'
import { PROGRESS } from './progress.ts'
import { DELTA_KINDS, DeltaScanner } from './scan-delta.ts'
import { toolNames } from './tools.ts'
import { TypeCount } from './type-count.ts'
import { readUsage, ToolRuns } from './usage.ts'

/** The number of frames that are not JSON, or not of this format, before the stream is given up. */
const MAX_MALFORMED = 16

export interface ResponsesDecoder extends Decoder {
  /** Counts of upstream event types that have no place in the public stream. */
  readonly ignored: ReadonlyMap<string, number>
}

const PREFIX = 'response.'

/** Tool searches have an object as arguments, so only those of function calls are converted to text. */
const parse = (text: string): unknown => parseAnswer(text, ({ type }) => type === 'function_call')

/** A decoder for one answer; stream events and whole JSON bodies use the same state. */
export function createResponsesDecoder(request: ModelRequest, target: Target<ResponsesOptions>): ResponsesDecoder {
  return new StreamDecoder(request, target)
}

class StreamDecoder implements ResponsesDecoder {
  readonly #provider: string
  readonly #isPrewarmed: boolean
  readonly #answer: Answer
  readonly #scanner = new DeltaScanner()
  readonly #ignored = new TypeCount()
  #started = false
  #finished = false
  #malformed = 0
  #frames = 0
  #serviceTier: string | undefined
  #usage: Usage | undefined

  constructor(request: ModelRequest, target: Target<ResponsesOptions>) {
    this.#provider = target.providerName
    this.#isPrewarmed = asksToPrewarm(request)
    this.#answer = new Answer({
      providerName: target.providerName,
      reasoningFormat: target.options.reasoning_format,
      scope: target.scope,
      sealsText: target.options.reasoning_text || wantsSealedReasoning(request),
      toolNames: toolNames(request, target.options),
      ran: new ToolRuns(target.options.paid_tools),
    })
  }

  get finished(): boolean {
    return this.#finished
  }
  get ignored(): ReadonlyMap<string, number> {
    return this.#ignored.counts
  }
  /** The usage, also of a failed answer. Before it comes, searches have been made that are charged all the same. */
  get counted(): Usage | undefined {
    return this.#usage ?? runsAlone(this.#answer.ran)
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.#finished) return
    this.#frames++
    // Nearly all frames are deltas. If a server names its events, other frames skip the scan.
    if ((event === undefined || event.endsWith('delta') || event === 'message') && this.#scanner.scan(data)) {
      if (!this.#started) this.#start({}, out)
      const { kind, outputIndex, part, delta } = this.#scanner
      this.#answer.delta(kind, outputIndex, part, delta, 'plain', out)
      return
    }
    if (data === '' || data === '[DONE]') return
    const frame = parse(data)
    const type = isObject(frame) ? (asString(frame['type']) ?? event) : undefined
    if (!isObject(frame) || (type === undefined && frame['error'] == null)) return this.#skipMalformed()
    this.#dispatch(type ?? 'error', frame, out)
  }

  body(text: string, out: ModelEvent[]): void {
    const start = text.trimStart()
    // An upstream that streams although JSON was requested.
    if (/^(?:data|event|id|retry)?:/.test(start)) {
      return this.#streamedBody(text, out)
    }
    const parsed = parse(start)
    if (!isObject(parsed)) {
      if (Array.isArray(parsed) && isObject(parsed[0]) && parsed[0]['error'] != null) throw this.#fail(streamError(parsed, this.#provider))
      throw this.#fail(brokenAnswer(this.#provider, start === '' ? 'answered with an empty body' : 'answered with a body that is not JSON'))
    }
    const hasAnswer = Array.isArray(parsed['output'])
    if (parsed['error'] != null && parsed['error'] !== '') throw this.#fail(streamError(parsed, this.#provider))
    const status = parsed['status']
    if (!hasAnswer || status === 'queued' || status === 'in_progress') {
      if (status === 'failed' || status === 'cancelled') throw this.#fail(this.#failure(parsed))
      throw this.#fail(
        brokenAnswer(this.#provider, hasAnswer ? `answered before it was done (${String(status)})` : 'answered with JSON that is no response'),
      )
    }
    this.#end(parsed, out)
  }

  end(_out: ModelEvent[]): void {
    if (this.#finished) return
    throw this.#fail(
      brokenAnswer(
        this.#provider,
        this.#frames === 0 ? 'closed the stream without sending anything' : 'closed the stream before the answer was complete',
      ),
    )
  }

  #streamedBody(text: string, out: ModelEvent[]): void {
    const parser = createSseParser((data, event) => this.push(data, event, out))
    try {
      parser.push(Buffer.from(text))
      parser.end()
    } catch (error) {
      if (error instanceof SseLimitError) throw this.#fail(brokenAnswer(this.#provider, 'sent an event that is too long'))
      throw error
    }
    this.end(out)
  }

  #dispatch(type: string, frame: JsonObject, out: ModelEvent[]): void {
    switch (type) {
      case 'response.completed':
      case 'response.done':
      case 'response.incomplete':
        return this.#end(isObject(frame['response']) ? frame['response'] : frame, out, type)
      case 'response.failed':
      case 'response.cancelled':
        throw this.#fail(this.#failure(isObject(frame['response']) ? frame['response'] : frame))
      case 'error':
      case 'response.error':
        throw this.#fail(streamError(frame, this.#provider))
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return this.#start(isObject(frame['response']) ? frame['response'] : {}, out)
      default:
    }
    // Errors of routers and proxies, in the format of Chat Completions, may have any event name or none.
    if (!type.startsWith(PREFIX)) {
      if (frame['error'] != null) throw this.#fail(streamError(frame, this.#provider))
      return this.#ignored.note(type)
    }
    this.#start({}, out)
    this.#content(type, frame, out)
  }

  #content(type: string, frame: JsonObject, out: ModelEvent[]): void {
    const answer = this.#answer
    const item = frame['item']
    if (type === 'response.output_item.added') return isObject(item) ? answer.announce(frame, item, out) : this.#skipMalformed()
    if (type === 'response.output_item.done') return isObject(item) ? answer.done(frame, item, out) : this.#skipMalformed()
    const index = answer.indexOf(frame)
    const part = partIndex(frame)
    const kind = DELTA_KINDS.get(type)
    if (kind !== undefined) {
      const { delta } = frame
      if (typeof delta !== 'string') return this.#skipMalformed()
      return answer.delta(kind, index, part, delta, kind === 'text' ? readLogprobs(frame['logprobs']) : undefined, out)
    }
    const text = asString(frame['text']) ?? asString(frame['refusal'])
    switch (type) {
      case 'response.refusal.delta':
        return answer.delta('refusal', index, part, asString(frame['delta']) ?? '', undefined, out)
      case 'response.reasoning.delta':
        return answer.delta('reasoning', index, part, asString(frame['delta']) ?? '', undefined, out)
      case 'response.output_text.done':
        return answer.completePart(
          index,
          part,
          { kind: 'text', text: text ?? '', annotations: [], logprobs: readLogprobs(frame['logprobs']) ?? [] },
          out,
        )
      case 'response.refusal.done':
        return answer.completePart(index, part, { kind: 'refusal', text: text ?? '', annotations: [], logprobs: [] }, out)
      case 'response.reasoning_summary_text.done':
        return answer.completePart(index, part, { kind: 'summary', text: text ?? '', annotations: [], logprobs: [] }, out)
      case 'response.reasoning_text.done':
      case 'response.reasoning.done':
        return answer.completePart(index, part, { kind: 'reasoning', text: text ?? '', annotations: [], logprobs: [] }, out)
      case 'response.content_part.done':
      case 'response.reasoning_part.done':
      case 'response.reasoning_summary_part.done': {
        const final = readPart(frame['part'])
        return final === undefined ? undefined : answer.completePart(index, part, final, out)
      }
      case 'response.content_part.added':
      case 'response.reasoning_part.added':
      case 'response.reasoning_summary_part.added':
        return
      case 'response.output_text.annotation.added':
        return answer.annotation(index, part, frame['annotation'], out)
      case 'response.function_call_arguments.done':
        return answer.completeArguments('arguments', index, asString(frame['arguments']) ?? '', out)
      case 'response.custom_tool_call_input.done':
        return answer.completeArguments('input', index, asString(frame['input']) ?? '', out)
      default:
        this.#progress(type, index, frame, out)
    }
  }

  #progress(type: string, index: number, frame: JsonObject, out: ModelEvent[]): void {
    const name = type.slice(PREFIX.length)
    const members = PROGRESS.get(name)
    if (members === undefined) return this.#ignored.note(type)
    const fields = Object.fromEntries(members.filter((member) => frame[member] !== undefined).map((member) => [member, frame[member]]))
    if (!this.#answer.progress(index, name, members.length === 0 ? undefined : fields, out)) this.#ignored.note(type)
  }

  #start(response: JsonObject, out: ModelEvent[]): void {
    const tier = asString(response['service_tier'])
    if (tier !== undefined) this.#serviceTier = tier
    if (this.#started) return
    this.#started = true
    const upstreamId = asString(response['id'])
    const model = asString(response['model'])
    if (upstreamId !== undefined) this.#answer.writer.seed = upstreamId
    out.push({
      type: 'response-start',
      ...(upstreamId === undefined ? {} : { upstreamId }),
      ...(model === undefined ? {} : { model }),
      ...(tier === undefined ? {} : { serviceTier: tier }),
    })
  }

  #end(response: JsonObject, out: ModelEvent[], event?: string): void {
    const { status } = response
    const wasCut = status === 'incomplete' || event === 'response.incomplete'
    if (status === 'failed' || status === 'cancelled' || isObject(response['error'])) throw this.#fail(this.#failure(response))
    const mark = out.length
    this.#start(response, out)
    const output = response['output']
    this.#answer.settle(Array.isArray(output) ? output : [], wasCut, out)
    const details = response['incomplete_details']
    const nativeReason = (isObject(details) ? asString(details['reason']) : undefined) ?? asString(status)
    this.#usage = readUsage(response['usage'], this.#answer.ran)
    if (!wasCut && !this.#answer.writer.hasContent && !this.#isPrewarmed) {
      out.length = mark
      throw this.#fail(emptyAnswer(this.#provider, nativeReason, 'stop'))
    }
    this.#finished = true
    const usage = this.counted
    const serviceTier = this.#serviceTier
    out.push({
      type: 'response-end',
      reason: wasCut ? cutReason(nativeReason) : this.#stopReason(),
      ...(nativeReason === undefined ? {} : { nativeReason }),
      ...stoppedOf(response),
      ...(usage === undefined ? {} : { usage }),
      ...(serviceTier === undefined ? {} : { serviceTier }),
    })
  }

  #stopReason(): FinishReason {
    const { hasCalls, hasRefusal, hasText } = this.#answer.writer
    if (hasCalls) return 'tool_calls'
    return hasRefusal && !hasText ? 'refusal' : 'stop'
  }

  /** The error of a failed answer, without its other members (such as the prompt), which do not concern the error. */
  #failure(response: JsonObject): Error {
    const { error, error_type: errorType, status } = response
    this.#usage = readUsage(response['usage'], this.#answer.ran)
    if (error == null) return brokenAnswer(this.#provider, status === 'cancelled' ? 'cancelled the answer' : 'failed without saying why')
    return streamError({ error, ...(errorType === undefined ? {} : { error_type: errorType }) }, this.#provider)
  }

  #fail<E extends Error>(error: E): E {
    this.#finished = true
    return error
  }

  #skipMalformed(): void {
    if (++this.#malformed > MAX_MALFORMED)
      throw this.#fail(brokenAnswer(this.#provider, `sent more than ${MAX_MALFORMED} frames that are not of this format`))
  }
}
