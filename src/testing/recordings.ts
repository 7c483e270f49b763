import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { EventStreamCodec } from '@smithy/eventstream-codec'

/** One recorded answer, to be served as its vendor served it. */
export interface Recording {
  /** Path of the file within the folder, and its position if the file contains several answers. */
  readonly name: string
  /** The folder's name for the format: `chat`, `responses`, `anthropic`, ... */
  readonly dialect: string
  readonly provider: string
  readonly status: number
  readonly features: readonly string[]
  readonly contentType: string
  readonly body: Buffer
}

interface Step {
  readonly dialect: string
  readonly provider: string
  readonly status: number
  readonly response: string
  readonly features?: readonly string[]
}

/** The recordings' name for the format of each dialect. */
export const FORMATS: { readonly [dialect: string]: string } = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'anthropic',
  'anthropic-invoke': 'anthropic',
  gemini: 'gemini',
  'bedrock-converse': 'bedrock-converse',
  'cohere-v2': 'cohere-v2',
}

/** The folder named by `SIGNALBOX_FIXTURES`, or else the one beside the repository; undefined if it does not exist. */
export function recordingsFolder(env: { readonly [name: string]: string | undefined } = process.env): string | undefined {
  const folder = resolve(env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../shared/fixtures'))
  return existsSync(join(folder, 'index.json')) ? folder : undefined
}

/** True if a run without the recordings would prove too little. */
export function recordingsRequired(env: { readonly [name: string]: string | undefined } = process.env): boolean {
  return env['SIGNALBOX_REQUIRE_FIXTURES'] === '1' || env['CI'] === 'true' || env['CI'] === '1'
}

/** A folder with fewer scenarios than this contains somebody's own recordings: they are tested, but their coverage is not. */
const FULL_SET = 100

/** Whether a folder contains too little to check its coverage; never if the recordings are required. */
export function isPartial(folder: string): boolean {
  if (recordingsRequired()) return false
  return (JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as readonly unknown[]).length < FULL_SET
}

/** Every recorded answer of one format, in the order of the index. */
export function readRecordings(folder: string, dialect: string): Recording[] {
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as readonly { readonly steps: readonly Step[] }[]
  return index.flatMap(({ steps }) => steps.filter((step) => step.dialect === dialect).flatMap((step) => readStep(folder, step)))
}

function readStep(folder: string, step: Step): Recording[] {
  const raw = readFileSync(join(folder, step.response))
  const { response: name, dialect, provider, status, features = [] } = step
  const known = { dialect, provider, status, features }
  if (name.endsWith('.json')) return [{ ...known, name, contentType: 'application/json', body: raw }]
  if (name.endsWith('.eventstream')) return [{ ...known, name, contentType: AWS_STREAM, body: raw }]
  if (name.endsWith('.sse')) return [{ ...known, name, contentType: SSE, body: raw }]
  const framing = (FRAMINGS[dialect] ?? dataLines())(provider)
  const answers = split(
    raw
      .toString()
      .split('\n')
      .filter((line) => line.trim() !== ''),
    framing.startsAnswer,
  )
  return answers.map((lines, n) => {
    const body = Buffer.concat([...lines.map((line) => Buffer.from(framing.frame(line))), Buffer.from(framing.end ?? '')])
    return { ...known, name: answers.length === 1 ? name : `${name} #${n}`, contentType: framing.contentType ?? SSE, body }
  })
}

const SSE = 'text/event-stream'
const AWS_STREAM = 'application/vnd.amazon.eventstream'

/** How payload lines become the bytes that their server sent; the README of the recordings defines it for each format. */
interface Framing {
  readonly frame: (line: string) => string | Uint8Array
  readonly end?: string
  readonly contentType?: string
  /** Whether a payload begins an answer, in formats whose files may contain several. */
  readonly startsAnswer?: (type: string) => boolean
}

const DONE = 'data: [DONE]\n\n'
const typeOf = (line: string): string => (JSON.parse(line) as { readonly type?: string }).type ?? ''
const data = (line: string): string => `data: ${line}\n\n`
const named = (line: string): string => `event: ${typeOf(line)}\ndata: ${line}\n\n`
const withCrLf = (line: string): string => `data: ${line}\r\n\r\n`

function dataLines(): (provider: string) => Framing {
  return (provider) => {
    if (provider === 'perplexity') return { frame: withCrLf }
    return { frame: data, ...(provider === 'gpustack' ? {} : { end: DONE }) }
  }
}

const FRAMINGS: { readonly [dialect: string]: (provider: string) => Framing } = {
  chat: dataLines(),
  responses: (provider) => ({
    frame: provider === 'openrouter' || provider === 'bedrock-mantle' ? data : named,
    startsAnswer: (type) => type === 'response.created',
    ...(provider === 'openrouter' ? { end: DONE } : {}),
  }),
  anthropic: () => ({ frame: named, startsAnswer: (type) => type === 'message_start' }),
  gemini: () => ({ frame: withCrLf }),
  'cohere-v2': () => ({ frame: named, end: DONE }),
  'bedrock-converse': () => ({ frame: awsFrame, contentType: AWS_STREAM }),
}

/** A second start begins a second answer, unless it comes before the first has ended, which some files contain on purpose. */
function split(lines: readonly string[], startsAnswer: Framing['startsAnswer']): readonly (readonly string[])[] {
  if (startsAnswer === undefined) return [lines]
  const answers: string[][] = [[]]
  for (const line of lines) {
    const open = answers.at(-1)!
    const ended = open.length > 0 && /"type": ?"(?:response\.(?:completed|failed|incomplete)|message_stop)"/.test(open.at(-1)!)
    if (ended && startsAnswer(typeOf(line))) answers.push([])
    answers.at(-1)!.push(line)
  }
  return answers
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
)

function awsFrame(line: string): Uint8Array {
  const [[type, payload] = ['', {}]] = Object.entries(JSON.parse(line) as { readonly [type: string]: unknown })
  const header = (value: string) => ({ type: 'string' as const, value })
  return codec.encode({
    headers: { ':event-type': header(type), ':content-type': header('application/json'), ':message-type': header('event') },
    body: Buffer.from(JSON.stringify(payload)),
  })
}
