import type { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, DestinationContext, OutgoingRequest, OutgoingResponse, SendRequest } from '../core/destination.ts'
import { classifyHttp } from '../core/outcome.ts'
import { uuidFromId } from '../lib/derived-id.ts'
import { cutText } from './shared/attributes.ts'
import { toChatChoices, toChatMessages, toChatTools } from './shared/chat-shape.ts'
import { hasCost, hasUsage, modelSlug } from './shared/gen-ai-attributes.ts'
import { readObject } from './shared/read-answer.ts'
import { isoTime, metadataObject, modelParameters } from './shared/record-metadata.ts'
import { basicAuth, destinationSettings, HEADER_SECRETS, httpUrl, joinUrl, mergeHeaders, requiredText } from './shared/settings.ts'
import { traceSteps, type TraceStep } from './shared/trace-steps.ts'

/** A longer name fails the whole batch. */
const MAX_OPERATION_CHARS = 128
const MAX_NAME_CHARS = 1_024
/**
 * The platform stores a call as JSON in ASCII, with blanks after commas and colons. From 3.5 MiB on, it replaces the call's texts with a note after it has
 * accepted them (github.com/wandb/weave, `_strip_large_values`).
 */
const MAX_BYTES = 3_000_000
/** The largest growth per byte sent; beyond ASCII each code unit is stored in six bytes. */
const LONGEST_ESCAPE = 3

const settings = destinationSettings({
  apiKey: requiredText('API key.'),
  entity: requiredText('User or team that owns the project.'),
  project: requiredText('Project that receives the calls.'),
  baseUrl: httpUrl('Address of the trace server.').default('https://trace.wandb.ai'),
})
type WeaveSettings = z.output<typeof settings>

const projectId = ({ entity, project }: WeaveSettings): string => `${entity}/${project}`

function request(options: WeaveSettings, path: string, body: object): OutgoingRequest {
  return {
    method: 'POST',
    url: joinUrl(options.baseUrl, path),
    headers: mergeHeaders(options.headers, { 'content-type': 'application/json', authorization: basicAuth('api', options.apiKey) }),
    body: toJson(body),
  }
}

/** JSON in the stored format if it may be too large, so that the limit counts what the platform counts. */
function toJson(body: object): string {
  const text = JSON.stringify(body)
  if (Buffer.byteLength(text) * LONGEST_ESCAPE <= MAX_BYTES) return text
  return inAscii(text)
}

/** Byte by byte: replacing the matches of an expression creates as many strings as a text has such characters, which may be millions. */
function inAscii(text: string): string {
  let length = text.length
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= 0x80) length += ESCAPE_BYTES - 1
  const bytes = Buffer.allocUnsafe(length)
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) {
      bytes[end++] = code
      continue
    }
    bytes[end++] = BACKSLASH
    bytes[end++] = LETTER_U
    for (let shift = 12; shift >= 0; shift -= 4) bytes[end++] = HEX[(code >> shift) & 15]!
  }
  return bytes.toString('latin1')
}
const ESCAPE_BYTES = 6
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const HEX = Buffer.from('0123456789abcdef')

/**
 * W&B Weave's calls, each sent complete. A project with complete calls refuses the older format, which has separate starts and ends
 * (github.com/wandb/weave/pull/7852); servers from before 2026 know only the older one.
 */
export const weave: Destination<WeaveSettings> = {
  type: 'weave',
  name: 'W&B Weave',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: MAX_BYTES },
  encode: (batch, options, context) => [context.prepared === HALVES ? halves(batch, options) : wholeCalls(options, batch)],
  classify,
  prepare: findForm,
  probe: (options) => [
    { name: 'count the calls of the project', request: request(options, '/calls/query_stats', { project_id: projectId(options), limit: 1 }) },
  ],
}

// ---- forms ----

const WHOLE = 'whole'
const HALVES = 'halves'
const WHOLE_CALLS = '/calls/complete'

function wholeCalls(options: WeaveSettings, records: readonly DeliveryRecord[]): OutgoingRequest {
  const path = [options.entity, options.project].map(encodeURIComponent).join('/')
  const batch = records.flatMap((record) =>
    traceSteps(record).map((step) => ({ ...toStart(record, step, projectId(options)), ...toEnd(record, step, projectId(options)) })),
  )
  return request(options, `/v2/${path}${WHOLE_CALLS}`, { batch })
}

/** A start without an end would run forever, so both are sent in one batch. */
function halves(records: readonly DeliveryRecord[], options: WeaveSettings): OutgoingRequest {
  const batch = records.flatMap((record) =>
    traceSteps(record).flatMap((step) => [
      { mode: 'start', req: { start: toStart(record, step, projectId(options)) } },
      { mode: 'end', req: { end: toEnd(record, step, projectId(options)) } },
    ]),
  )
  return request(options, '/call/upsert_batch', { batch })
}

/** Determines the format with an empty batch. Any other answer will recur for the batch that follows, and the next batch asks again. */
async function findForm(options: WeaveSettings, _context: DestinationContext, send: SendRequest): Promise<string | undefined> {
  const { status } = await send(wholeCalls(options, []))
  if (isUnknown(status)) return HALVES
  return status >= 200 && status < 300 ? WHOLE : undefined
}

const isUnknown = (status: number): boolean => status === 404 || status === 405

/** If the server has changed since it was asked, or the project has begun to contain complete calls, it is asked again, and nothing is lost. */
function classify(response: OutgoingResponse, { url }: OutgoingRequest): DeliveryOutcome {
  const { status } = response
  if (isUnknown(status) && new URL(url).pathname.endsWith(WHOLE_CALLS))
    return { kind: 'unauthorized', message: `HTTP ${status}: the server does not take whole calls` }
  if (readObject(response)?.['error_code'] === 'CALLS_COMPLETE_MODE_REQUIRED')
    return { kind: 'unauthorized', message: `HTTP ${status}: the project takes whole calls only` }
  return classifyHttp(response)
}

// ---- calls ----

/** The caller's own parent is a call only if it is a UUID; any other would make the call an orphan. */
function parentId(step: TraceStep): string | undefined {
  if (step.parentId === undefined) return undefined
  const uuid = uuidFromId(step.parentId)
  return step.isTop && uuid !== step.parentId.toLowerCase() ? undefined : uuid
}

function toStart(record: DeliveryRecord, step: TraceStep, project: string): object {
  const { ids } = record
  const parent = parentId(step)
  return {
    project_id: project,
    id: uuidFromId(step.id),
    trace_id: uuidFromId(ids.trace),
    ...(parent === undefined ? {} : { parent_id: parent }),
    op_name: cutText(step.isTop ? operationName(record) : step.name, MAX_OPERATION_CHARS),
    display_name: cutText(step.name, MAX_NAME_CHARS),
    ...toTurn(record),
    started_at: isoTime(step.startedAt),
    attributes: step.child?.attributes ?? toAttributes(record),
    inputs: toInputs(record, step),
  }
}

/**
 * A session is a thread. The list of a thread consists of turns, which are calls whose turn id is their own id (github.com/wandb/weave,
 * `threads_query_builder.py`). Calls below a turn name it, like in the platform's client.
 */
function toTurn({ generation, ids }: DeliveryRecord): object {
  return generation.sessionId === undefined ? {} : { thread_id: generation.sessionId, turn_id: uuidFromId(ids.wrapper ?? ids.generation) }
}

/** The caller's name for it; the trace's name has priority over the generation's. */
function operationName({ generation: { trace = {} }, names }: DeliveryRecord): string {
  const displayName = [trace['trace_name'], trace['generation_name']].find((name) => typeof name === 'string' && name.trim() !== '')
  return typeof displayName === 'string' ? displayName : names.trace
}

function toAttributes(record: DeliveryRecord): object {
  const { generation, ids } = record
  return {
    ...metadataObject(record),
    gateway_trace_id: ids.trace,
    organization_id: generation.workspaceId,
    ...(generation.externalUser === undefined ? {} : { user_id: generation.externalUser }),
    ...(generation.sessionId === undefined ? {} : { session_id: generation.sessionId }),
    ...(ids.parent === undefined ? {} : { parent_span_id: ids.parent }),
    ...(record.tags.length === 0 ? {} : { tags: record.tags }),
    // The platform uses its own price table, which lacks most models.
    ...(hasCost(record) ? { cost: { input: generation.cost.input, output: generation.cost.output, total: generation.cost.total } } : {}),
  }
}

function toInputs(record: DeliveryRecord, step: TraceStep): object {
  if (step.child !== undefined) return step.child.input === undefined ? {} : { input: step.child.input }
  const { content } = record
  const messages = content === undefined ? {} : { messages: toChatMessages(content) }
  if (step.kind === 'wrapper') return messages
  const tools = toChatTools(content?.tools)
  return { ...modelParameters(record), model: modelSlug(record), ...messages, ...(tools.length === 0 ? {} : { tools }) }
}

function toEnd(record: DeliveryRecord, step: TraceStep, project: string): object {
  return {
    project_id: project,
    id: uuidFromId(step.id),
    ended_at: isoTime(step.endedAt),
    ...toOutput(record, step),
    ...(step.error === undefined ? {} : { exception: `${step.error.type}: ${step.error.message}` }),
    summary: step.kind === 'generation' ? toSummary(record) : {},
  }
}

/** The format of a chat completion makes the platform show its chat view. */
function toOutput(record: DeliveryRecord, step: TraceStep): object {
  if (step.child !== undefined) return step.child.output === undefined ? {} : { output: step.child.output }
  const { content, generation } = record
  if (content === undefined) return {}
  return {
    output: {
      id: generation.id,
      object: 'chat.completion',
      created: Math.floor(generation.startedAt / 1000),
      model: modelSlug(record),
      choices: toChatChoices(content, generation.finishReason),
      ...(step.kind === 'generation' && hasUsage(record) ? { usage: tokens(record) } : {}),
    },
  }
}

const tokens = ({ generation: { usage } }: DeliveryRecord): object => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.totalTokens,
})

function toSummary(record: DeliveryRecord): object {
  const { cost, firstTokenMs } = record.generation
  return {
    ...(hasUsage(record) ? { usage: { [modelSlug(record)]: { requests: 1, ...tokens(record) } } } : {}),
    ...(hasCost(record) ? { cost_usd: { input: cost.input, output: cost.output, total: cost.total } } : {}),
    ...(firstTokenMs === undefined ? {} : { time_to_first_token_ms: firstTokenMs }),
  }
}
