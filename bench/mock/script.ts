/**
 * What the mock upstream says and what callers ask: shared by the mock, the request builders and the checks, so that every answer can be compared with the
 * expected text.
 */

/**
 * json: a 1 KB answer. burst: events written one by one without a pause, as a fast model's server sends them. block: the same events in a single write.
 * paced: an event every few milliseconds. idle: a first token, then silence.
 */
export const SCENES = ['json', 'burst', 'block', 'paced', 'idle'] as const
export type Scene = (typeof SCENES)[number]

/** The name of the upstream model for a scene. */
export const upstreamModel = (scene: Scene): string => `bench-${scene}`

/** The path where the mock accepts spans, like a collector. */
export const COLLECTOR_PATH = '/collector'

/** The end of every answer's text: an answer without it was cut. */
export const END_MARK = 'END-OF-ANSWER'

export const BURST_EVENTS = 256
export const PACED_EVENTS = 24
export const PACED_INTERVAL_MS = 10
/** Gateways that aggregate stream upstream even for a caller's JSON request: the 1 KB answer then comes in this many events, in one write. */
export const JSON_ANSWER_EVENTS = 8

const SENTENCE = 'The quick gateway carries one more answer over the lazy wire, and nobody has to wait for it.'

function tokens(count: number): readonly string[] {
  // Every sixteenth token needs escaping, like the line breaks and quotes of real answers.
  const words = Array.from({ length: count - 1 }, (_, i) => (i % 16 === 15 ? '\n"' : ` tok${i}`))
  return [...words, END_MARK]
}

function slices(text: string, count: number): readonly string[] {
  const size = Math.ceil(text.length / count)
  return Array.from({ length: count }, (_, i) => text.slice(i * size, (i + 1) * size))
}

/** The pieces of text that a scene streams; the answer is all of them joined. */
export const PIECES: { readonly [S in Scene]: readonly string[] } = {
  json: slices(`${`${SENTENCE} `.repeat(8).slice(0, 660)}${END_MARK}`, JSON_ANSWER_EVENTS),
  burst: tokens(BURST_EVENTS),
  block: tokens(BURST_EVENTS),
  paced: tokens(PACED_EVENTS),
  idle: [' first'],
}

export const answerText = (scene: Scene): string => PIECES[scene].join('')

export const USAGE = { prompt_tokens: 480, completion_tokens: 160, total_tokens: 640 }

const notes = (sentences: number): string => `Summarise the following notes.\n${`- ${SENTENCE}\n`.repeat(sentences)}"Thank you."`

/** What callers send, by the size of the request body: 2 KB of text, 32 KB, 400 KB (about 100,000 tokens), and 1 MB that is mostly an image. */
export const PROMPTS = ['2k', '32k', '400k', '1m'] as const
export type Prompt = (typeof PROMPTS)[number]
export const PROMPT_TEXT: { readonly [P in Prompt]: string } = { '2k': notes(16), '32k': notes(330), '400k': notes(4_150), '1m': notes(16) }
/** Not a real image: its bytes have the length of one, and no gateway has a reason to decode them. */
export const PROMPT_IMAGE: { readonly [P in Prompt]: string | undefined } = {
  '2k': undefined,
  '32k': undefined,
  '400k': undefined,
  '1m': `data:image/png;base64,iVBORw0KGgo${'Q0dhdGV3YXk1'.repeat(85_000)}`,
}
