import { chatEvents, chatJson, silence, status, stream, type Reply } from '../src/testing/fake-upstream.ts'

/** Faults that an endpoint may have, what each means for a call, and the result of a call whose endpoints have them in sequence. */

/** The endpoint that is asked: provider and model, by their numbers. */
export interface Asked {
  readonly p: number
  readonly m: number
}

/**
 * `served`: success; `again`: once more on the same endpoint; `next`: another endpoint; `busy`: the next endpoint or, if there is none, a wait; `model`:
 * another model; `key`: nothing more of this provider; `broken`: a failure after the first words.
 */
type Meaning = 'served' | 'again' | 'next' | 'busy' | 'model' | 'key' | 'broken'

export interface Fault {
  readonly name: string
  readonly meaning: Meaning
  readonly reply: (asked: Asked) => Reply
}

/** Words that identify their endpoint, so that a mixture of two would be noticed. */
export const wordsOf = ({ p, m }: Asked): readonly string[] => [`<${p}/${m}: `, 'alpha ', 'beta ', `gamma ${p}/${m}>`]
export const usageOf = ({ p, m }: Asked) => ({ prompt_tokens: 10 + p, completion_tokens: 5 + m, total_tokens: 15 + p + m })
export const pricesOf = ({ p, m }: Asked) => ({ input: 1 + p * 10 + m, output: 2 + p * 7 + m * 3 })
export function costOf(asked: Asked): number {
  const { prompt_tokens: input, completion_tokens: output } = usageOf(asked)
  const prices = pricesOf(asked)
  return (input * prices.input + output * prices.output) / 1e6
}

const whole = (asked: Asked): unknown[] => [
  chatEvents.role(),
  ...wordsOf(asked).map((text) => chatEvents.text(text)),
  chatEvents.finish(),
  chatEvents.usage(usageOf(asked)),
  chatEvents.done(),
]
const refusal = (message: string, more: object = {}): object => ({ error: { message, type: 'x', ...more } })
const says = (name: string, meaning: Meaning, reply: Reply): Fault => ({ name, meaning, reply: () => reply })
const refuses = (code: number, meaning: Meaning, headers: { readonly [name: string]: string } = {}): Fault =>
  says(`${code}${Object.keys(headers).join('')}`, meaning, status(code, refusal('no'), headers))
const begins = (name: string, count: number, meaning: Meaning, more: readonly unknown[] = [], then: 'end' | 'hang' = 'end'): Fault => ({
  name,
  meaning,
  reply: (asked) => stream([...whole(asked).slice(0, count), ...more], { then }),
})
const noWords = (finish: string): Reply => stream([chatEvents.role(), chatEvents.finish(finish), chatEvents.usage(), chatEvents.done()])

export const HEALTHY: readonly Fault[] = [
  { name: 'well', meaning: 'served', reply: (asked) => stream(whole(asked)) },
  { name: 'as JSON', meaning: 'served', reply: (asked) => status(200, { ...chatJson(wordsOf(asked).join('')), usage: usageOf(asked) }) },
  { name: 'a frame that is no JSON', meaning: 'served', reply: (asked) => stream(whole(asked).toSpliced(3, 0, 'data: {"id": oops\n\n')) },
  { name: 'two ends', meaning: 'served', reply: (asked) => stream(whole(asked).toSpliced(6, 0, chatEvents.finish())) },
  begins('no end mark', 7, 'served'),
]

export const BUSY: readonly Fault[] = [refuses(429, 'busy', { 'retry-after': '0.1' })]

export const FAULTS: readonly Fault[] = [
  says('reset', 'again', (_request, response) => void response.socket?.resetAndDestroy()),
  refuses(500, 'again'),
  says('a web page of a proxy', 'again', status(502, '<html>bad gateway</html>', { 'content-type': 'text/html' })),
  refuses(503, 'again'),
  refuses(529, 'again'),
  says('an error first', 'again', stream([refusal('the server had an error', { code: 503 })])),
  says('an error for an answer', 'again', status(200, refusal('overloaded', { code: 503 }))),
  says('a page for an answer', 'again', status(200, '<html>x</html>', { 'content-type': 'text/html' })),
  says('nothing for an answer', 'again', status(200, '')),
  says('no words', 'again', noWords('stop')),
  begins('cut before a word', 1, 'again'),
  refuses(404, 'next'),
  refuses(408, 'next'),
  refuses(413, 'next'),
  says('silence', 'next', silence()),
  begins('silence before a word', 1, 'next', [], 'hang'),
  refuses(400, 'model'),
  refuses(422, 'model'),
  says('too long', 'model', status(400, refusal('too long', { code: 'context_length_exceeded' }))),
  says('filtered before a word', 'model', noWords('content_filter')),
  refuses(401, 'key'),
  refuses(402, 'key'),
  refuses(403, 'key'),
  begins('cut', 3, 'broken'),
  begins('an error in the middle', 3, 'broken', [refusal('the server had an error', { code: 500 })]),
  begins('silence in the middle', 3, 'broken', [], 'hang'),
]

export interface Schedule {
  readonly order: readonly number[]
  readonly models: readonly number[]
  /** The caller sees nothing before the answer is complete. */
  readonly holdsBack: boolean
  /** The result of the n-th request to an endpoint; the last repeats. */
  readonly faultOf: (asked: Asked, nth: number) => Fault
}
export interface Forecast {
  readonly end: 'served' | 'broken' | 'failed'
  readonly by?: Asked
  readonly sent: readonly string[]
  readonly met: ReadonlySet<Meaning>
}

/**
 * Predicts the requests that the retry rules require, and the result. Providers are never asked often enough for the limits to matter, and at most one
 * endpoint is ever busy.
 */
export function forecast({ order, models, holdsBack, faultOf }: Schedule): Forecast {
  const plan = models.flatMap((m) => order.map((p): Asked => ({ p, m })))
  const sent: string[] = []
  const met = new Set<Meaning>()
  const refused = new Set<number>()
  const dead = new Set<number>()
  let busy: Asked | undefined

  /** Asks one endpoint until there is a final result or another one is next. */
  const visit = (by: Asked, alone: boolean): Forecast | undefined => {
    const mine = `${by.p}/${by.m} `
    let faults = 0
    while (!refused.has(by.m) && !dead.has(by.p) && faults < 2) {
      const nth = sent.filter((line) => line.startsWith(mine)).length
      const fault = faultOf(by, nth)
      sent.push(mine + fault.name)
      if (fault.meaning === 'served') return { end: 'served', by, sent, met }
      if (fault.meaning === 'broken' && !holdsBack) return { end: 'broken', by, sent, met }
      const meaning = fault.meaning === 'broken' ? (fault.name.startsWith('silence') ? 'next' : 'again') : fault.meaning
      met.add(meaning)
      busy = meaning === 'busy' ? by : busy === by ? undefined : busy
      if (meaning === 'again') faults++
      else if (meaning === 'model') refused.add(by.m)
      else if (meaning === 'key') dead.add(by.p)
      // A busy endpoint gets four tries in all.
      if (meaning === 'next' || (meaning === 'busy' && (!alone || nth === 3))) return undefined
    }
    return undefined
  }
  for (const by of plan) {
    const end = visit(by, plan.length === 1)
    if (end !== undefined) return end
  }
  return (busy !== undefined && plan.length > 1 ? visit(busy, true) : undefined) ?? { end: 'failed', sent, met }
}
