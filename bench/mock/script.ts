/**
 * What the mock upstream says and what callers ask of it: shared by the mock, the request builders and the checks, so that every answer
 * can be compared with the text it must carry.
 */

/**
 * json: a 1 KB answer. burst: events written one by one without a pause, as a fast model's server sends them. block: the same events in a
 * single write. paced: an event every few milliseconds. idle: a first token, then silence.
 */
export const SCENES = ['json', 'burst', 'block', 'paced', 'idle'] as const
export type Scene = (typeof SCENES)[number]

/** Name of the upstream model that plays a scene. */
export const upstreamModel = (scene: Scene): string => `bench-${scene}`

/** Stands at the end of every answer's text: an answer without it was cut. */
export const END_MARK = 'END-OF-ANSWER'

export const BURST_EVENTS = 256
export const PACED_EVENTS = 24
export const PACED_INTERVAL_MS = 10
/** A caller's JSON request is streamed upstream by gateways that aggregate: the 1 KB answer then comes in this many events, in one write. */
export const JSON_ANSWER_EVENTS = 8

const SENTENCE = 'The quick gateway carries one more answer over the lazy wire, and nobody has to wait for it.'

function tokens(count: number): readonly string[] {
  // Every sixteenth token needs escaping on the wire, as line ends and quotes of real answers do.
  const words = Array.from({ length: count - 1 }, (_, i) => (i % 16 === 15 ? '\n"' : ` tok${i}`))
  return [...words, END_MARK]
}

function slices(text: string, count: number): readonly string[] {
  const size = Math.ceil(text.length / count)
  return Array.from({ length: count }, (_, i) => text.slice(i * size, (i + 1) * size))
}

/** The pieces of text a scene streams; its answer is their sum. */
export const PIECES: { readonly [S in Scene]: readonly string[] } = {
  json: slices(`${`${SENTENCE} `.repeat(8).slice(0, 660)}${END_MARK}`, JSON_ANSWER_EVENTS),
  burst: tokens(BURST_EVENTS),
  block: tokens(BURST_EVENTS),
  paced: tokens(PACED_EVENTS),
  idle: [' first'],
}

export const answerText = (scene: Scene): string => PIECES[scene].join('')

export const USAGE = { prompt_tokens: 480, completion_tokens: 160, total_tokens: 640 }

/** A prompt that makes a request body of about 2 KB. */
export const PROMPT = `Summarise the following notes.\n${`- ${SENTENCE}\n`.repeat(16)}"Thank you."`
