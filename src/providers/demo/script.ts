import { exampleValue } from './example-value.ts'
import type { Prompt } from './prompt.ts'

/** One step of a simulated answer. `cut` breaks the connection, `silence` waits until the caller gives up. */
export type Beat =
  | { readonly type: 'text' | 'reasoning'; readonly words: string }
  | { readonly type: 'call'; readonly name: string; readonly arguments: string }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'cut' }
  | { readonly type: 'silence' }

export interface DemoModel {
  /** The part of the name after `demo/`. */
  readonly id: string
  readonly name: string
  readonly description: string
  /** An HTTP status that is answered instead of a script. */
  readonly status?: number
  readonly reasons?: boolean
  readonly play?: (prompt: Prompt) => readonly Beat[]
}

const NOTHING_TO_ECHO = '(simulated) There was no user text to echo.'
const SLOW_FIRST_MS = 1_000
const SLOW_WORD_MS = 150

const ERROR_STATUSES = [400, 401, 402, 403, 404, 413, 422, 429, 500, 502, 503, 529]

export const DEMO_MODELS: readonly DemoModel[] = [
  model('echo', 'Echo', 'Streams the text of the last user message back, word by word.', (prompt) => speak(echoOf(prompt))),
  model('slow', 'Slow echo', 'Echoes like demo/echo, but waits a second before the first word and a moment between words.', (prompt) => [
    { type: 'wait', ms: SLOW_FIRST_MS },
    ...speak(echoOf(prompt)).flatMap((beat): Beat[] => [beat, { type: 'wait', ms: SLOW_WORD_MS }]),
  ]),
  model('cut', 'Cut connection', 'Echoes half of the words, then the connection dies.', (prompt) => {
    const words = speak(echoOf(prompt))
    return [...words.slice(0, Math.ceil(words.length / 2)), { type: 'cut' }]
  }),
  model('silent', 'Silence', 'Accepts the request and never says a word.', () => [{ type: 'silence' }]),
  model('tool', 'Tool caller', 'Calls the first tool with arguments made from its schema, and reports the result once it has it.', callTool),
  {
    ...model('reason', 'Reasoner', 'Thinks aloud before it echoes; reasoning effort "none" switches the thinking off.', (prompt) => [
      ...(prompt.reasons ? speak('(simulated) The user wrote something. The best answer is to say it back.', 'reasoning') : []),
      ...speak(echoOf(prompt)),
    ]),
    reasons: true,
  },
  model('json', 'JSON writer', 'Answers with a JSON document that fits the requested schema, or echoes the text as JSON.', (prompt) =>
    speak(JSON.stringify(prompt.schema === undefined ? { echo: prompt.lastUserText } : exampleValue(prompt.schema))),
  ),
  ...ERROR_STATUSES.map((status): DemoModel => ({
    id: `error-${status}`,
    name: `Error ${status} (simulated)`,
    description: `Simulated: answers every request with HTTP ${status}.`,
    status,
  })),
]

function model(id: string, name: string, description: string, play: (prompt: Prompt) => readonly Beat[]): DemoModel {
  return { id, name: `${name} (simulated)`, description: `Simulated: ${description} No model is involved.`, play }
}

function echoOf(prompt: Prompt): string {
  return prompt.lastUserText === '' ? NOTHING_TO_ECHO : prompt.lastUserText
}

/** One beat per word. White space stays with the words, so that the beats add up to the exact text. */
function speak(text: string, type: 'text' | 'reasoning' = 'text'): readonly Beat[] {
  return (text.match(/\s*\S+|\s+$/g) ?? []).map((words): Beat => ({ type, words }))
}

function callTool(prompt: Prompt): readonly Beat[] {
  if (prompt.toolResults.length > 0) return speak(`(simulated) The tool answered: ${prompt.toolResults.join(' | ')}`)
  if (prompt.tool === undefined) return speak('(simulated) No tool was offered, so none was called.')
  return [{ type: 'call', name: prompt.tool.name, arguments: JSON.stringify(exampleValue(prompt.tool.parameters ?? {})) }]
}
