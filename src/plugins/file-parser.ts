import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Call } from '../core/call.ts'
import { GatewayError, isGatewayError, type ErrorType } from '../core/error.ts'
import type { Plugin, PluginContext } from '../core/extension.ts'
import type { InputFile, InputPart } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import type { DocumentReader, WebPages } from '../core/web.ts'
import type { ReadResult, ReadyDocumentEngine } from './shared/document-engine.ts'
import { inlineFile, kindOf, nameOf, type FileBytes } from '../core/inline-file.ts'
import { addressOf, filesIn, pathOf, replaceFiles } from './shared/file-part.ts'
import { TextCache } from './shared/text-cache.ts'
import { cutText } from '../lib/cut-text.ts'
import { decodeText } from '../lib/decode-text.ts'

const settings = z.object({ pdf: z.object({ engine: z.string().optional() }).optional() })

type Settings = z.infer<typeof settings>
type Context = PluginContext<Settings>

/** The gateway's own reader of PDF files. */
const OWN = 'pdf-text'
const NATIVE = 'native'
/** Engines that need no configuration by the operator. */
export const BUILT_IN_ENGINES: readonly string[] = [OWN, NATIVE]
const MAX_FILES = 32
const MAX_IMAGES = 8
/** The most characters of a file's name in messages. */
const MAX_NAME = 80
/** The most characters of one file; no context window is larger. */
const MAX_CHARS = 4_000_000
const CACHE = { maxChars: 32 * 1024 * 1024, ttlMs: 10 * 60_000 }

export interface FileParserOptions {
  readonly reader: DocumentReader
  /** Fetches files that callers give by URL. */
  readonly pages: WebPages
  /** The fully configured engines. */
  readonly engines: readonly ReadyDocumentEngine[]
  /** All engines, including those without a key, and whether the gateway's own reader may replace them. */
  readonly known: ReadonlyMap<string, { readonly replaceable: boolean }>
  /** The default engine for requests that name none. */
  readonly engine: string
}

/** Converts files to text: PDF files with the engine that the caller names, and in any case all files that endpoints cannot take. */
export function createFileParser(options: FileParserOptions): Plugin<Settings> {
  const parser = new FileParser(options)
  const isFree = BUILT_IN_ENGINES.includes(options.engine)
  return {
    id: 'file-parser',
    settings,
    timeoutMs: 180_000,
    // A paid engine must run before the attempts, where it can be charged to the call. A free one need not look for files in every call.
    ...(isFree ? {} : { implied: (request) => filesIn(request).length > 0 }),
    check({ pdf }) {
      if (pdf?.engine !== undefined && pdf.engine !== NATIVE) parser.engineFor(pdf.engine)
    },
    prepare(request, context) {
      const engine = context.settings.pdf?.engine
      if (engine === undefined || engine === NATIVE) return undefined
      return parser.replace(request, context, engine, { file: (file) => kindOf(file) === 'pdf' })
    },
    adapts: {
      standing: {},
      modalities: ({ pdf }) => (pdf?.engine === NATIVE ? [] : ['file']),
      adapt(request, endpoint, context) {
        const engine = context.settings.pdf?.engine ?? options.engine
        if (engine === NATIVE) return undefined
        const { inputModalities, upstreamModel, connection } = endpoint
        const { dialect, options: quirks } = connection
        const takes = (part: InputFile): boolean => dialect.takesFile?.(part, { options: quirks, upstreamModel }) !== false
        return parser.replace(request, context, engine, { part: (part) => !inputModalities.has('file') || !takes(part) })
      },
    },
  }
}

interface Parsed extends ReadResult {
  /** In USD; 0 if it was read before. */
  readonly cost: number
  readonly cached: boolean
}

/** A file of the request as text, with the engine that read it. */
interface Fetched {
  readonly name: string
  readonly engine: ReadyDocumentEngine | undefined
  readonly parsed: Parsed
}

/** Which files to read, by their part in the request and by their content. Default: all. */
interface Wanted {
  readonly part?: (part: InputFile) => boolean
  readonly file?: (file: FileBytes) => boolean
}

class FileParser {
  readonly #options: FileParserOptions
  readonly #cache = new TextCache<ReadResult>(CACHE)
  readonly #fetched = new WeakMap<InputFile, Fetched>()
  /** What each call has paid for: it is in all of its attempts and turns, however large it is and however long they take. */
  readonly #bought = new WeakMap<Call['trace'], Map<string, ReadResult>>()

  constructor(options: FileParserOptions) {
    this.#options = options
  }

  /** Undefined means the gateway's own reader. Throws `invalid_request` for an engine that is unknown or lacks its key. */
  engineFor(name: string): ReadyDocumentEngine | undefined {
    if (name === OWN) return undefined
    const ready = this.#options.engines.find(({ engine }) => engine.name === name)
    if (ready !== undefined) return ready
    const known = this.#options.known.get(name)
    if (known?.replaceable === true) return undefined
    const path = 'plugins'
    if (known === undefined)
      throw new GatewayError(
        'invalid_request',
        `The plugin file-parser has no engine "${name}": known are ${[OWN, NATIVE, ...this.#options.known.keys()].join(', ')}`,
        { path },
      )
    throw new GatewayError(
      'invalid_request',
      `The plugin file-parser cannot use "${name}", which this gateway has no key for: its operator sets one under plugins.file_parser.engines`,
      { path },
    )
  }

  /** The request with its files as text; undefined if it has none to replace. */
  async replace(request: ModelRequest, context: Context, engineName: string, wanted: Wanted): Promise<ModelRequest | undefined> {
    const parts = filesIn(request)
    if (parts.length === 0) return undefined
    if (parts.length > MAX_FILES)
      throw new GatewayError('invalid_prompt', `More than ${MAX_FILES} files cannot be read for one request`, { path: 'input' })
    const engine = this.engineFor(engineName)
    const takesImages = context.endpointsOf(request).every(({ inputModalities }) => inputModalities.has('image'))
    const replaced = new Map<InputFile, readonly InputPart[]>()
    const done: Parsed[] = []
    const reader = engine?.engine.name ?? OWN
    let reported = 0
    let images = MAX_IMAGES
    for (const part of parts) {
      if (wanted.part?.(part) === false) continue
      const read = await this.#textOf(part, engine, context, wanted)
      if (read === undefined) continue
      const { name, parsed } = read
      const shown = takesImages ? parsed.images.slice(0, images) : []
      images -= shown.length
      done.push(parsed)
      // Costs are reported at once, because the call may end before the next file is read.
      if (parsed.cost > 0) {
        this.#tell(done, reader, parsed.cost, context)
        reported = done.length
      }
      replaced.set(part, [
        { type: 'input_text', text: present(name, parsed) },
        ...shown.map((url): InputPart => ({ type: 'input_image', image_url: url, detail: 'auto' })),
      ])
    }
    if (done.length === 0) return undefined
    if (reported < done.length) this.#tell(done, reader, 0, context)
    return replaceFiles(request, replaced)
  }

  /** A file as text; undefined if it is not wanted. A file given by URL is fetched once for all attempts and turns of its request. */
  async #textOf(part: InputFile, engine: ReadyDocumentEngine | undefined, context: Context, wanted: Wanted): Promise<Fetched | undefined> {
    const known = this.#fetched.get(part)
    if (known !== undefined && known.engine === engine) return { ...known, parsed: { ...known.parsed, cost: 0, cached: true } }
    const file = await this.#load(part, context)
    if (file === undefined || wanted.file?.(file) === false) return undefined
    const { name } = file
    const parsed = await this.#parse(file, engine, context).catch((error: unknown) => {
      throw named(error, part, name, context)
    })
    const read = { name, engine, parsed }
    if (addressOf(part) !== undefined) this.#fetched.set(part, read)
    return read
  }

  async #load(part: InputFile, context: Context): Promise<FileBytes | undefined> {
    const inline = inlineFile(part)
    if (inline !== undefined) return inline
    const url = addressOf(part)
    if (url === undefined) return undefined
    const { signal } = context
    const name = nameOf(part.filename, url)
    try {
      const file = await this.#options.pages.download({ url, refuse: () => undefined, signal })
      return { ...file, name }
    } catch (error) {
      if (signal.aborted || !isGatewayError(error)) throw error
      // The URL comes from the caller, who is told of the error; an endpoint that fetches files itself may still reach it.
      throw named(new GatewayError('invalid_prompt', error.message, { failover: 'next', cause: error }), part, name, context)
    }
  }

  async #parse(
    file: FileBytes,
    engine: ReadyDocumentEngine | undefined,
    { call: { clock, owner, trace }, signal, afford }: Context,
  ): Promise<Parsed> {
    const kind = kindOf(file)
    if (kind === undefined) {
      const type = file.mimeType === '' ? 'an unknown type' : `the type ${file.mimeType.slice(0, 80)}`
      throw new GatewayError('invalid_prompt', `It is of ${type}, which cannot be read as text`, { failover: 'next' })
    }
    if (kind === 'text') return { text: cutText(decodeText(file.bytes, file.charset), MAX_CHARS), images: [], cost: 0, cached: false }
    const service = kind === 'pdf' ? engine : undefined
    // The key contains the workspace: cost and duration must not reveal whether another workspace has sent the same file.
    const key = `${owner.workspaceId}/${service?.engine.name ?? OWN}/${kind}/${file.charset ?? ''}/${createHash('sha256').update(file.bytes).digest('base64')}`
    const known = this.#cache.get(key, clock) ?? this.#bought.get(trace)?.get(key)
    if (known !== undefined) return { ...known, cost: 0, cached: true }
    // The number of pages is only known once they have been read.
    if (service !== undefined) await afford(service.price)
    const read =
      service === undefined
        ? { ...(await this.#options.reader.read(file.bytes, kind, signal, file.charset)), images: [] }
        : await service.read(file, signal, clock.now())
    if (read === undefined) throw new GatewayError('unprocessable', 'It cannot be read')
    const result: ReadResult = { ...read, text: cutText(read.text, MAX_CHARS) }
    this.#cache.set(key, result, result.text.length + result.images.reduce((sum, { length }) => sum + length, 0), clock)
    if (service !== undefined) this.#bought.set(trace, (this.#bought.get(trace) ?? new Map<string, ReadResult>()).set(key, result))
    return { ...result, cost: service === undefined ? 0 : service.price * (result.pages ?? 1), cached: false }
  }

  /** `cost`: the cost not reported before. */
  #tell(done: readonly Parsed[], engine: string, cost: number, { report }: Context): void {
    const sum = (figure: (parsed: Parsed) => number): number => done.reduce((total, parsed) => total + figure(parsed), 0)
    const cached = sum((parsed) => Number(parsed.cached))
    report({
      stage: {
        type: 'plugin',
        name: 'file-parser',
        summary: `${done.length} ${done.length === 1 ? 'file' : 'files'} read as text by ${engine}`,
        data: { engine, files: done.length, pages: sum(({ pages = 0 }) => pages), ...(cached === 0 ? {} : { cached }) },
        ...(cost === 0 ? {} : { cost_usd: cost }),
      },
      cost,
    })
  }
}

const OF_THE_FILE: ReadonlySet<ErrorType> = new Set(['invalid_prompt', 'unprocessable'])

/** An error about a file, with the file's name and its path in the caller's request. */
function named(error: unknown, part: InputFile, name: string, { call: { request } }: Context): unknown {
  if (!isGatewayError(error) || !OF_THE_FILE.has(error.errorType)) return error
  const path = pathOf(part, request)
  return new GatewayError(error.errorType, `${path}, the file ${JSON.stringify(cutText(name, MAX_NAME))}: ${error.message}`, {
    ...error.details,
    path,
    cause: error,
  })
}

/** The text under the file's name. No mark in the text can end it early: the model is told where it begins, and it ends with the part. */
function present(name: string, { text, pages }: ReadResult): string {
  const about = `${JSON.stringify(name.slice(0, 200))}${pages === undefined ? '' : `, ${pages} ${pages === 1 ? 'page' : 'pages'}`}`
  return text.trim() === '' ? `The file ${about}, has no text that can be read.` : `The text of the file ${about}:\n\n${text}`
}
