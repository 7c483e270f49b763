import type { Call } from '../core/call.ts'
import { isGatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { AskOptions, ModelAnswer, ToolContext, ToolResult } from '../core/extension.ts'
import type { GenerationStep } from '../core/generation.ts'
import type { FunctionTool, InputItem, JsonObject } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import type { IdSource } from '../lib/id.ts'
import { abortReason, hasLeft } from './abort-reason.ts'
import type { OfferedTool } from './offered-tool.ts'
import type { ToolBill } from './tool-bill.ts'
import { endOf, startOf, type ItemStart } from './tool-end.ts'
import type { PendingCall } from './tool-step.ts'
import { TimeLimit } from './time-limit.ts'
import { cutText } from '../lib/cut-text.ts'
import { isJsonObject, parseJsonText } from '../lib/json.ts'
import { atTurnEnd } from '../lib/turn-end.ts'

/** A finished call of a server tool. */
export interface FinishedCall {
  readonly call: PendingCall
  readonly result: ToolResult
  /** False for calls that were refused without running. */
  readonly executed: boolean
}

export interface RunScene {
  readonly call: Call
  /** Position of the turn in the loop, which is part of the items' keys. */
  readonly step: number
  /** Calls that may still run. */
  readonly budget: number
  /** Milliseconds left for the whole loop, read for each call, because calls of one turn may wait for each other. */
  readonly timeLeftMs: () => number
  /** Calls that the request does not allow. */
  readonly forbids: (call: PendingCall) => boolean
  readonly parallel: number
  readonly transcript: readonly InputItem[]
  readonly deferred: readonly FunctionTool[]
  readonly newId: IdSource
  /** Records what a call costs. */
  readonly bill: (call: PendingCall) => ToolBill
  readonly ask: (request: ModelRequest, signal: AbortSignal, options: AskOptions, bill: ToolBill) => Promise<ModelAnswer>
  readonly steps: GenerationStep[]
}

const DEFAULT_TIMEOUT_MS = 60_000
/** Characters of one result that a model reads; more would only fill its window. */
const MAX_OUTPUT_CHARS = 400_000
const OVER_BUDGET = 'The tool budget of this request is spent. Answer with what you have.'
const FORBIDDEN = 'This request does not allow this tool. Answer without it.'
const OVER_TIME = 'The time of this request for tools is over. Answer with what you have.'

/**
 * Runs the calls of one turn, some at a time. Yields the events of their items as they happen and returns the results in the order of the calls.
 * Tools that fail, run too long or get arguments they cannot read yield a result that says so; only an aborted call throws.
 */
export async function* runTools(calls: readonly PendingCall[], scene: RunScene): AsyncGenerator<readonly ModelEvent[], readonly FinishedCall[]> {
  const queue = new EventQueue()
  const stop = new AbortController()
  const onAbort = (): void => {
    stop.abort(scene.call.signal.reason)
    queue.wake()
  }
  scene.call.signal.addEventListener('abort', onAbort)
  if (scene.call.signal.aborted) onAbort()
  const results: FinishedCall[] = []
  let next = 0
  let running = 0
  const startMore = (): void => {
    // When the running calls are given up, so are those that wait.
    while (running < scene.parallel && next < calls.length && !stop.signal.aborted) {
      const index = next++
      running++
      const call = calls[index]!
      const broken = (): FinishedCall => ({ call, result: failure('server', 'The tool failed.'), executed: true })
      void runOne(call, index, scene, queue, stop.signal)
        .catch(broken)
        .then((finished) => {
          results[index] = finished
          running--
          startMore()
          queue.wake()
        })
    }
  }
  try {
    startMore()
    for (;;) {
      const events = queue.drain()
      if (events.length > 0) yield events
      if (scene.call.signal.aborted) {
        // A caller who leaves pays for what models have written by now: they hear of it in this turn of the event loop, and then report what they
        // used.
        await new Promise<void>(atTurnEnd)
        throw abortReason(scene.call.signal)
      }
      if (running === 0 && next === calls.length && queue.isEmpty) return results
      await queue.wait()
    }
  } finally {
    scene.call.signal.removeEventListener('abort', onAbort)
    stop.abort()
  }
}

/** Events of tools that run concurrently, for one reader. */
class EventQueue {
  #events: ModelEvent[] = []
  #wake: (() => void) | undefined
  #woken = false

  push(event: ModelEvent): void {
    this.#events.push(event)
    this.wake()
  }
  get isEmpty(): boolean {
    return this.#events.length === 0
  }
  drain(): readonly ModelEvent[] {
    const events = this.#events
    if (events.length > 0) this.#events = []
    return events
  }
  wake(): void {
    this.#woken = true
    this.#wake?.()
  }
  async wait(): Promise<void> {
    if (!this.#woken) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#woken = false
    this.#wake = undefined
  }
}

const ID_PREFIXES: { readonly [itemType: string]: string } = {
  web_search_call: 'ws_',
  image_generation_call: 'ig_',
  apply_patch_call: 'apc_',
  mcp_call: 'mcp_',
  mcp_approval_request: 'mcpr_',
}

function close(bill: ToolBill, { cost }: ToolResult, { signal }: Call): void {
  if (cost === undefined && hasLeft(signal)) bill.leave()
  bill.end(cost ?? 0)
}

async function runOne(pending: PendingCall, index: number, scene: RunScene, queue: EventQueue, stop: AbortSignal): Promise<FinishedCall> {
  const { offered } = pending
  const { tool } = offered
  const key = `tool/${scene.step}/${index}`
  const newId = (itemType: string): string => `${ID_PREFIXES[itemType] ?? 'st_'}${scene.newId(24)}`
  const id = newId(offered.itemType)
  const timeLeftMs = scene.timeLeftMs()
  const refusal = refusalOf(pending, index, scene, timeLeftMs)
  if (refusal === undefined) offered.uses++
  const bill = scene.bill(pending)
  const limit = new TimeLimit(stop, Math.min(tool.timeoutMs ?? DEFAULT_TIMEOUT_MS, Math.max(1, Math.ceil(timeLeftMs))))
  let open = true
  // What is continued was announced by an earlier answer, and is shown again only as a whole.
  const announced = pending.resumed === undefined
  const early: ModelEvent[] = []
  let send = (event: ModelEvent): void => void early.push(event)
  const context: ToolContext = {
    settings: offered.settings,
    call: scene.call,
    signal: limit.signal,
    callId: pending.callId,
    rawArguments: pending.arguments,
    ...broughtBy(pending),
    transcript: scene.transcript,
    instance: offered.instance,
    uses: offered.uses,
    tally: offered.tally,
    deferred: scene.deferred,
    emit: (name, fields) => {
      if (open && announced && !isForeign(name, offered)) send({ type: 'item-event', key, name, ...(fields === undefined ? {} : { fields }) })
    },
    // What nobody watches is not streamed, so that an answer that breaks can still be replaced.
    ask: (request, options = {}) => scene.ask(request, limit.signal, isWatched(start, announced, scene.call) ? options : {}, bill),
    afford: (usd) => bill.afford(usd),
  }
  const parsed = refusal === undefined ? readArguments(pending) : { problem: refusal }
  const shown = tool.begin('args' in parsed ? parsed.args : undefined, context)
  const start = shown && startOf(shown, { key, id, offered })
  if (start !== undefined && announced) queue.push(start)
  for (const event of early) queue.push(event)
  send = (event) => queue.push(event)
  const startedAt = scene.call.clock.now()
  const begun = scene.call.clock.monotonic()
  const step: { -readonly [K in keyof GenerationStep]: GenerationStep[K] } = { kind: 'tool', name: tool.name, itemId: id, startedAt, durationMs: 0 }
  if (offered.source !== undefined) step.source = offered.source
  if (refusal === undefined) scene.steps.push(step)
  let result: ToolResult
  try {
    result =
      'problem' in parsed ? failure('invalid_arguments', parsed.problem, refusal === undefined) : await limit.race(tool.execute(parsed.args, context))
  } catch (error) {
    result = failureOf(error, limit)
  } finally {
    limit.end()
  }
  close(bill, result, scene.call)
  const ended = tool.end?.(result, context)
  open = false
  step.durationMs = scene.call.clock.monotonic() - begun
  if (result.error !== undefined) {
    step.errorType = result.error.type
    step.errorMessage = result.error.message
  }
  if (result.handBack !== undefined) step.itemId = newId(result.handBack.type)
  for (const event of endOf(
    { ...result, item: { ...result.item, ...ended } },
    { start, announced, key, id: step.itemId, pending, newId: scene.newId },
  ))
    queue.push(event)
  if (result.held === true) scene.steps.splice(scene.steps.indexOf(step), 1)
  return { call: pending, result: bounded(result), executed: refusal === undefined && result.held !== true }
}

/** Whether the caller sees what a tool does while it runs. */
const isWatched = (start: ItemStart | undefined, announced: boolean, { visibilityOf }: Call): boolean =>
  start !== undefined && announced && (visibilityOf?.(start.item) ?? 'written') === 'written'

/** What the caller has sent along with a call of an earlier answer. */
const broughtBy = ({ grant, resumed }: PendingCall): Pick<ToolContext, 'grant' | 'resumed'> => ({
  ...(grant === undefined ? {} : { grant }),
  ...(resumed === undefined ? {} : { resumed: resumed.items }),
})

/** Why a call may not begin, for the model. */
function refusalOf(pending: PendingCall, index: number, { budget, forbids }: RunScene, timeLeftMs: number): string | undefined {
  if (pending.resumed?.problem !== undefined) return pending.resumed.problem
  if (forbids(pending)) return FORBIDDEN
  if (index >= budget) return OVER_BUDGET
  return timeLeftMs <= 0 ? OVER_TIME : undefined
}

/** An event that belongs to a vendor's own spelling, while the caller gets another item type. */
function isForeign(name: string, { tool, itemType }: OfferedTool): boolean {
  const owner = name.slice(0, name.indexOf('.'))
  return owner !== itemType && Object.values(tool.spellings ?? {}).includes(owner)
}

function readArguments({ offered, arguments: text, cut }: PendingCall): { readonly args: unknown } | { readonly problem: string } {
  let value: unknown
  try {
    value = text.trim() === '' ? {} : parseJsonText(text)
  } catch {
    return { problem: cut ? 'The arguments were cut off. Call again with shorter ones.' : 'The arguments are not valid JSON.' }
  }
  const { parameters } = offered.tool
  const parsed = parameters.safeParse(value)
  const read = parsed.success || !isJsonObject(value) ? parsed : parameters.safeParse(withoutNulls(value))
  if (read.success) return { args: read.data }
  const issue = read.error.issues[0]
  return { problem: `The argument ${issue?.path.map(String).join('.') || '(whole)'} is not valid: ${issue?.message ?? 'wrong form'}` }
}

/** Many models write null for an argument they mean to omit. */
const withoutNulls = (args: JsonObject): JsonObject => Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))

function failure(type: string, message: string, lasting = false): ToolResult {
  return { output: JSON.stringify({ status: 'error', error: message }), error: { type, message, lasting } }
}

/** What went wrong, without internal details: the messages of our own errors, a general sentence for all others. */
function failureOf(error: unknown, limit: TimeLimit): ToolResult {
  if (limit.expired) return failure('timeout', 'The tool took too long.')
  if (isGatewayError(error)) return failure(error.errorType, error.message)
  return failure('server', 'The tool failed.')
}

function bounded(result: ToolResult): ToolResult {
  const { output } = result
  if (typeof output !== 'string' || output.length <= MAX_OUTPUT_CHARS) return result
  return { ...result, output: `${cutText(output, MAX_OUTPUT_CHARS)}\n[cut]` }
}
