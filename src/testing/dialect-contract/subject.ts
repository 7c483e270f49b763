import type { Parameter } from '../../core/capability.ts'
import type { Decoder, Dialect, Target } from '../../core/dialect.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createAwsEventStreamParser } from '../../lib/aws-event-stream.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance } from '../event-balance.ts'
import { tool, user } from '../request-features.ts'
import type { ScriptedAnswer, VendorVoice } from '../voices/voice.ts'

export const ALL: readonly Parameter[] = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'structured_outputs',
  'reasoning',
  'include_reasoning',
  'reasoning_effort',
  'logprobs',
  'top_logprobs',
  'verbosity',
]

export const ANSWER: ScriptedAnswer = {
  reasoning: { text: 'Two "places".', secret: 'c2VjcmV0IG9mIHRoZSB2ZW5kb3I=' },
  text: 'Grüße 🎉 from there.',
  calls: [
    { id: 'call_vendor_1', name: 'f', arguments: '{"x":"Å"}' },
    { id: 'call_vendor_2', name: 'g', arguments: '{}' },
  ],
}
export const TEXT: ScriptedAnswer = { text: 'Just a plain text, in some pieces.' }
export const REQUEST: ModelRequest = { input: [user('q')], tools: [tool('f'), tool('g')], reasoning: { effort: 'low' } }

function targetOf(dialect: Dialect, voice: VendorVoice, more: Partial<Target> = {}): Target {
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: voice.model,
    options: dialect.options.parse(voice.options),
    supports: new Set(ALL),
    contextLength: 200_000,
    maxOutputTokens: 64_000,
    scope: 'acme',
    stream: true,
    ...more,
  }
}

/** A dialect under test with its vendor, and helpers to decode the vendor's answers. */
export interface Subject {
  readonly dialect: Dialect
  readonly voice: VendorVoice
  readonly target: Target
  /** Passes bytes in pieces of `cut` through the framing and the decoder, to their end. */
  readonly feed: (decoder: Decoder, bytes: Buffer, cut: number, out: ModelEvent[]) => void
  /** The events of a streamed answer, checked for balance. */
  readonly stream: (answer: ScriptedAnswer, request?: ModelRequest, cut?: number) => ModelEvent[]
}

export function subjectOf(dialect: Dialect, voice: VendorVoice): Subject {
  const target = targetOf(dialect, voice)
  const feed = (decoder: Decoder, bytes: Buffer, cut: number, out: ModelEvent[]): void => {
    const create = dialect.framing === 'sse' ? createSseParser : createAwsEventStreamParser
    const parser = create((data, event) => {
      if (!decoder.finished) decoder.push(data, event, out)
    })
    for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
    parser.end()
    if (!decoder.finished) decoder.end(out)
  }
  const stream = (answer: ScriptedAnswer, request = REQUEST, cut = Number.MAX_SAFE_INTEGER): ModelEvent[] => {
    const out: ModelEvent[] = []
    feed(dialect.decoder(request, target), Buffer.concat(voice.stream(answer)), cut, out)
    checkEventBalance(out)
    return out
  }

  return { dialect, voice, target, feed, stream }
}
