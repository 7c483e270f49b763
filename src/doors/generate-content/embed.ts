import type { InputPart, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { asNumbers, type Embedded } from '../embeddings/fold.ts'
import { checkEntries, forVectors, userMessage } from '../embeddings/to-request.ts'
import { checkBody, withValues, refuse } from '../shared/check-body.ts'
import { kindOf, shownBy, type Content } from './history.ts'
import { inItsNames, VECTORS } from './names.ts'
import { decoded, inAddress, modelNamed, VECTOR_METHODS } from './path.ts'
import { batchEmbedRequest, embedContentRequest } from './schema.ts'
import { vectorUsageOf } from './usage.ts'

/** The purpose of the vectors, in the terms that models of all vendors accept. Other purposes are known only to the vendor of this format. */
const PURPOSES: { readonly [task: string]: string | undefined } = {
  TASK_TYPE_UNSPECIFIED: '',
  RETRIEVAL_QUERY: 'search_query',
  RETRIEVAL_DOCUMENT: 'search_document',
}

interface Preferences {
  readonly taskType?: string | null
  readonly outputDimensionality?: number | null
}
interface Wanted extends Preferences {
  readonly model?: string | null
  readonly content: Content
  readonly embedContentConfig?: Preferences | null
}

export interface VectorsRead {
  readonly request: ModelRequest
  readonly write: (embedded: Embedded) => string
  /** Maps a path of the request to the path in this format, for errors. */
  readonly pathOf: (path: string) => string
}

/**
 * The parsed body of `:embedContent` or `:batchEmbedContents` as a request for vectors. `url`: its address, which names the model and the method. Throws
 * GatewayError `invalid_request`, naming one path of this format and one reason.
 */
export function readVectors(written: unknown, url: string): VectorsRead {
  const { named, method } = inAddress(url)
  const model = modelNamed(named)
  const isBatch = method === VECTOR_METHODS[1]
  const body = inItsNames(written, VECTORS)
  if (isBatch) checkEntries((body as { readonly requests?: unknown } | null)?.requests, 'requests')
  checkBody(isBatch ? batchEmbedRequest : embedContentRequest, body, 'content')
  const { requests = [body as Wanted], ...shared } = body as JsonObject & { readonly requests?: readonly Wanted[] }
  if (requests.length === 0) throw refuse('invalid_request', 'requests', 'is empty: send at least one')
  if (isBatch) checkModels(requests, model)
  const place = (at: number): string => (isBatch ? `requests[${at}].` : '')
  const { provider, user, session_id, metadata, trace } = shared
  const fields = withValues({ model, provider, user, session_id, metadata, trace, ...preferencesOf(requests, place) })
  const items = requests.map(({ content }, at) => userMessage(partsOf(content, `${place(at)}content`)))
  return { request: forVectors(fields, items), write: isBatch ? asBatch : asOne, pathOf: (path) => pathIn(path, place) }
}

/** The entries of a batch name the model, too. One model makes all vectors, and to whoever wrote another they would be of that one. */
function checkModels(requests: readonly Wanted[], model: string): void {
  for (const [at, { model: other }] of requests.entries()) {
    if (!other || nameIn(other) === nameIn(model)) continue
    throw refuse('invalid_request', `requests[${at}].model`, `must be the model of the address, ${model}: one model makes all vectors of a call`)
  }
}

/** The name as it is compared: without its folder, the slash unescaped. */
const nameIn = (written: string): string => (decoded(written) ?? written).toLowerCase().replace(/^models\//, '')

/** One upstream request makes all vectors, so their options must be the same. */
function preferencesOf(requests: readonly Wanted[], place: (at: number) => string): JsonObject {
  const wished = requests.map(({ embedContentConfig: config, taskType, outputDimensionality }) => ({
    taskType: taskType ?? config?.taskType ?? undefined,
    outputDimensionality: outputDimensionality ?? config?.outputDimensionality ?? undefined,
  }))
  const [first] = wished
  for (const field of ['taskType', 'outputDimensionality'] as const) {
    const other = wished.findIndex((each) => each[field] !== first![field])
    if (other > 0)
      throw refuse('invalid_request', `${place(other)}${field}`, `must be that of ${place(0).slice(0, -1)}: vectors of one call are made alike`)
  }
  const task = first?.taskType
  const purpose = task === undefined ? undefined : (PURPOSES[task.toUpperCase()] ?? task.toLowerCase())
  return { dimensions: first?.outputDimensionality, input_type: purpose === '' ? undefined : purpose }
}

function partsOf({ parts }: Content, path: string): string | readonly InputPart[] {
  const shown = (parts ?? []).flatMap((part, at) => {
    const kind = kindOf(part, `${path}.parts[${at}]`)
    if (kind === undefined || kind === 'text' || kind === 'inlineData' || kind === 'fileData') return shownBy(part)
    throw refuse('invalid_request', `${path}.parts[${at}].${kind}`, 'is nothing a vector is made of: send text or media')
  })
  const [only] = shown
  if (only === undefined) throw refuse('invalid_request', path, 'says nothing: send at least one part with content')
  return shown.length === 1 && only.type === 'input_text' ? only.text : shown
}

const WISHES: ReadonlyMap<string, string> = new Map([
  ['dimensions', 'outputDimensionality'],
  ['input_type', 'taskType'],
])

function pathIn(path: string, place: (at: number) => string): string {
  const [match, at] = /^input\[(\d+)\]/.exec(path) ?? []
  if (match !== undefined) return `${place(Number(at))}content`
  const field = WISHES.get(path)
  return field === undefined ? path : `${place(0)}${field}`
}

const inMembers = (embedded: Embedded): string => {
  const usage = vectorUsageOf(embedded)
  const { added, model } = embedded
  return `${usage === undefined ? '' : `,"usageMetadata":${JSON.stringify(usage)}`},"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(embedded.options.id)}${added}`
}

const asOne = (embedded: Embedded): string => `{"embedding":{"values":${asNumbers(embedded.vectors[0]!)}}${inMembers(embedded)}}`

const asBatch = (embedded: Embedded): string =>
  `{"embeddings":[${embedded.vectors.map((vector) => `{"values":${asNumbers(vector)}}`).join(',')}]${inMembers(embedded)}}`
