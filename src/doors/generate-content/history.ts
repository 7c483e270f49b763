import type { FunctionCallOutputItem, InputItem, InputPart, JsonObject, ToolOutput } from '../../core/item.ts'
import { isJsonObject, wellFormedJson } from '../../lib/json.ts'
import { refuse } from '../shared/check-body.ts'
import { blobPart, type Blob, filePart, type FileData, pictureOf, pictureOfFile, type ShownPart } from './media.ts'
import { OpenCalls } from './open-calls.ts'
import { ModelTurn } from './model-turn.ts'

/** A part that has passed the schema; one of its fields, other than the first two, says what it is. */
export interface Part {
  readonly thought?: boolean | null
  readonly thoughtSignature?: string | null
  readonly text?: string | null
  readonly inlineData?: Blob | null
  readonly fileData?: FileData | null
  readonly functionCall?: { readonly id?: string | null; readonly name: string; readonly args?: JsonObject | null } | null
  readonly functionResponse?: FunctionResponse | null
  readonly executableCode?: { readonly id?: string | null; readonly code: string } | null
  readonly codeExecutionResult?: { readonly id?: string | null; readonly outcome?: string | null; readonly output?: string | null } | null
  readonly toolCall?: JsonObject | null
  readonly toolResponse?: JsonObject | null
}
interface FunctionResponse {
  readonly id?: string | null
  readonly name?: string | null
  readonly response?: JsonObject | null
  readonly parts?: readonly Pick<Part, 'inlineData' | 'fileData'>[] | null
}
export interface Content {
  readonly role?: 'user' | 'model' | 'function' | null
  readonly parts?: readonly Part[] | null
}

const KINDS = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'] as const

/** Matches numbers that a double may have rounded: integers of sixteen or more digits. */
const ROUNDED = /\d{16}|\de\+\d/

/**
 * The conversation as items, in the order of its parts. `origins` receives the turn index of each item; `exactly` returns the turns again, with numbers as
 * they were sent. Throws GatewayError `invalid_request` for a part whose content this format does not know.
 */
export function toItems(
  contents: readonly Content[],
  origins: number[] = [],
  exactly: () => readonly Content[] = () => contents,
): readonly InputItem[] {
  return new HistoryReader(contents, origins, exactly).read()
}

class HistoryReader {
  readonly #contents: readonly Content[]
  readonly #origins: number[]
  readonly #exactly: () => readonly Content[]
  readonly #calls: OpenCalls
  readonly #items: InputItem[] = []
  #parts: InputPart[] = []

  constructor(contents: readonly Content[], origins: number[], exactly: () => readonly Content[]) {
    this.#contents = contents
    this.#origins = origins
    this.#exactly = exactly
    this.#calls = new OpenCalls(new Set(contents.flatMap(({ parts }) => (parts ?? []).flatMap(({ functionCall }) => functionCall?.id ?? []))))
  }

  read(): readonly InputItem[] {
    let turn: ModelTurn | undefined
    for (const [at, { role, parts }] of this.#contents.entries()) {
      if (role === 'model') {
        // Clients that keep every chunk of a stream send one answer back as many turns.
        turn ??= new ModelTurn()
        for (const [index, part] of (parts ?? []).entries()) this.#answered(turn, part, at, index)
        if (this.#contents[at + 1]?.role === 'model') continue
        this.#take(turn.items(), at)
        turn = undefined
      } else {
        for (const [index, part] of (parts ?? []).entries()) this.#sent(part, at, index)
        this.#message(at)
      }
    }
    return this.#items
  }

  #take(items: readonly InputItem[], origin: number): void {
    for (const item of items) this.#items.push(item)
    while (this.#origins.length < this.#items.length) this.#origins.push(origin)
  }

  #message(origin: number): void {
    if (this.#parts.length > 0) this.#take([{ type: 'message', role: 'user', content: this.#parts }], origin)
    this.#parts = []
  }

  /** A part of a user's turn: text, media, or the result of a call. */
  #sent(part: Part, at: number, index: number): void {
    const kind = kindOf(part, `contents[${at}].parts[${index}]`)
    if (kind === 'functionResponse') {
      this.#message(at)
      const { id, name, ...result } = part.functionResponse!
      this.#take([{ type: 'function_call_output', call_id: this.#calls.result(id, name), ...outputOf(result) }], at)
    } else if (kind === 'functionCall')
      throw refuse('invalid_request', `contents[${at}].parts[${index}].functionCall`, 'must stand in a turn of the role "model"')
    else if (kind !== undefined) this.#parts.push(...shownBy(part))
  }

  /** A part of a model's turn. */
  #answered(turn: ModelTurn, part: Part, at: number, index: number): void {
    const kind = kindOf(part, `contents[${at}].parts[${index}]`)
    // Its signature covers this part alone, and goes with it.
    if (kind === undefined && RAN_BY_THE_VENDOR.some((field) => part[field] != null)) return
    if (part.thought === true) return turn.thought(part.text ?? '', part.thoughtSignature)
    // A keep-alive that the client stored does not end the thought around it.
    if (part.text === '' && !part.thoughtSignature) return
    turn.seal(part.thoughtSignature)
    const picture = kind === 'fileData' ? pictureOfFile(part.fileData!) : undefined
    if (picture !== undefined) turn.item(picture)
    else if (kind === 'text') turn.text(part.text!)
    else if (kind === 'functionCall') turn.item(this.#callOf(part.functionCall!, at, index))
    else if (kind === 'inlineData' && /^image\//i.test(part.inlineData!.mimeType)) turn.item(pictureOf(part.inlineData!))
    else if (kind === 'executableCode') turn.code(part.executableCode!)
    else if (kind === 'codeExecutionResult') turn.codeResult(part.codeExecutionResult!)
    else if (kind === 'functionResponse')
      throw refuse('invalid_request', `contents[${at}].parts[${index}].functionResponse`, 'must stand in a turn of the role "user"')
    else if (kind !== undefined) for (const shown of shownBy(part)) turn.part(shown)
  }

  #callOf({ id, name, args }: NonNullable<Part['functionCall']>, at: number, index: number): InputItem {
    const text = JSON.stringify(args ?? {})
    const exact = ROUNDED.test(text) ? this.#exactly()[at]?.parts?.[index]?.functionCall?.args : undefined
    return {
      type: 'function_call',
      call_id: this.#calls.call(id, name),
      name,
      arguments: exact === undefined ? text : wellFormedJson(JSON.stringify(exact ?? {})),
    }
  }
}

/** What a part is; undefined for a part without content, which may be there for its signature. */
export function kindOf(part: Part, path: string): (typeof KINDS)[number] | undefined {
  const kinds = KINDS.filter((kind) => part[kind] != null)
  if (kinds.length > 1) throw refuse('invalid_request', path, `must be one thing, and has ${kinds.join(' and ')}`)
  const [kind] = kinds
  if (kind !== undefined) return kind
  const strange = Object.entries(part).find(([name, value]) => value != null && !ABOUT_A_PART.has(name))
  if (strange === undefined) return undefined
  throw refuse('invalid_request', path, `has no content this format knows: it has ${strange[0]}, known are ${KINDS.join(', ')}`)
}

/** Tools that the vendor ran belong to the state of its own models, as encrypted thoughts do; no other model is asked to go on with them. */
const RAN_BY_THE_VENDOR = ['toolCall', 'toolResponse'] as const

const ABOUT_A_PART: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
  ...RAN_BY_THE_VENDOR,
])

export function shownBy({ text, inlineData, fileData }: Part): readonly ShownPart[] {
  if (text != null) return text === '' ? [] : [{ type: 'input_text', text }]
  if (inlineData != null) return [blobPart(inlineData)]
  return fileData == null ? [] : [filePart(fileData)]
}

/** The format's own rule: `output` alone is the result, `error` means failure, and without either of them the whole object is the result. */
function outputOf({ response, parts }: FunctionResponse): Pick<FunctionCallOutputItem, 'output' | 'failed'> {
  const names = Object.keys(response ?? {})
  const only = names.length === 1 ? names[0] : undefined
  const failed = only === 'error'
  const resultText = textOf(only === 'output' || failed ? response![only] : (response ?? {}))
  const shown = (parts ?? []).flatMap(shownBy)
  if (!failed && shown.length === 0) return { output: resultText }
  // Not every format can mark results as failed, so the text says it.
  const texts = [...(failed ? ['Error:'] : []), ...(resultText === '{}' ? [] : [resultText])]
  const output = [...texts.map((text) => ({ type: 'input_text', text }) as const), ...shown] as ToolOutput
  return { output, ...(failed ? { failed } : {}) }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** The system instruction as one text; undefined for none. */
export function instructionsOf(system: unknown): string | undefined {
  const { parts: several, ...alone } = isJsonObject(system) ? system : { text: system }
  const parts = (several ?? [alone]) as readonly { readonly text?: string | null }[]
  const text = parts.flatMap((part) => part.text || []).join('\n\n')
  return text === '' ? undefined : text
}
