import { Agent, request, type ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { DOORS, type SoakDoor } from './doors.ts'
import type { Behaviour } from './upstream.ts'

export interface TrafficOptions {
  readonly url: string
  readonly key: string
  readonly managementKey: string
  /** Calls started per second, whatever the state of earlier ones. */
  readonly perSecond: number
  readonly random: () => number
}

export interface TrafficCounts {
  calls: number
  aborted: number
  /** By HTTP status; 0 for a broken connection. */
  readonly statuses: Map<number, number>
  /** Streams that ended without a terminal event and were not aborted by the soak. */
  unterminated: number
  managementWrites: number
  readonly unexpected: string[]
}

export interface Traffic {
  readonly counts: TrafficCounts
  readonly inFlight: () => number
  stop(): Promise<void>
}

interface Kind {
  readonly weight: number
  readonly behaviour: Behaviour
  readonly stream: boolean
  /** The caller hangs up within at most this share of a second. */
  readonly abort?: boolean
  readonly tools?: boolean
  readonly large?: boolean
}

const KINDS: readonly Kind[] = [
  { weight: 30, behaviour: 'plain', stream: false },
  { weight: 25, behaviour: 'plain', stream: true },
  { weight: 10, behaviour: 'long', stream: true },
  { weight: 5, behaviour: 'long', stream: false },
  { weight: 6, behaviour: 'tool', stream: true, tools: true },
  { weight: 6, behaviour: 'long', stream: true, abort: true },
  { weight: 3, behaviour: 'silent', stream: true, abort: true },
  { weight: 3, behaviour: 'rate-limited', stream: false },
  { weight: 3, behaviour: 'broken', stream: true },
  { weight: 2, behaviour: 'reset', stream: true },
  { weight: 2, behaviour: 'cut', stream: true },
  { weight: 2, behaviour: 'garbled', stream: true },
  { weight: 1, behaviour: 'stalled', stream: true },
  { weight: 1, behaviour: 'plain', stream: false, large: true },
]
const LARGE = 'x'.repeat(200_000)
const CALL_LIMIT_MS = 60_000
const MANAGEMENT_MS = 2_000

/** Calls of every kind at an even pace, with changes of the configuration in between. */
export function startTraffic(options: TrafficOptions): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: 512 })
  const counts: TrafficCounts = { calls: 0, aborted: 0, statuses: new Map(), unterminated: 0, managementWrites: 0, unexpected: [] }
  const open = new Set<Promise<void>>()
  const stopped = new AbortController()
  const running = (): boolean => !stopped.signal.aborted

  const pace = async (): Promise<void> => {
    const started = performance.now()
    for (let begun = 0; running();) {
      const due = ((performance.now() - started) / 1_000) * options.perSecond
      for (; begun < due; begun++) {
        const call = callOnce(options, agent, choose(KINDS, options.random), counts).finally(() => open.delete(call))
        open.add(call)
      }
      await sleep(10)
    }
  }
  const work = [pace(), manage(options, counts, running)]
  return {
    counts,
    inFlight: () => open.size,
    async stop() {
      stopped.abort()
      await Promise.all(work)
      await Promise.all(open)
      agent.destroy()
    },
  }
}

function choose<T extends { readonly weight: number }>(among: readonly T[], random: () => number): T {
  let left = random() * among.reduce((sum, { weight }) => sum + weight, 0)
  return among.find(({ weight }) => (left -= weight) < 0) ?? among[0]!
}

function callOnce({ url, key, random }: TrafficOptions, agent: Agent, kind: Kind, counts: TrafficCounts): Promise<void> {
  const n = counts.calls++
  const door = choose(DOORS, random)
  const input = `[${kind.behaviour}] call ${n} ${kind.large === true ? LARGE : 'some words '.repeat(20)}`
  const question = { input, stream: kind.stream, sessionId: `session-${n % 5_000}`, withTools: kind.tools === true }
  const body = JSON.stringify(door.body(question))
  return new Promise((resolve) => {
    const sent = request(`${url}${door.path}`, {
      method: 'POST',
      agent,
      timeout: CALL_LIMIT_MS,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    })
    let aborted = false
    const timer = kind.abort === true ? setTimeout(() => ((aborted = true), sent.destroy()), random() * 500) : undefined
    let begun = 0
    const finish = (status: number, text: string): void => {
      clearTimeout(timer)
      if (aborted) counts.aborted++
      else judge(counts, { kind, door, status, text })
      resolve()
    }
    sent
      .on('timeout', () => sent.destroy(new Error(`no answer in time (${phaseOf(sent, begun)})`)))
      .on('error', (error) => finish(0, error.message))
      .on('response', (response) => {
        let text = ''
        begun = response.statusCode ?? 0
        response
          .on('data', (chunk: Buffer) => (text += chunk.toString()))
          .on('error', (error: Error) => finish(0, error.message))
          .on('end', () => finish(response.statusCode ?? 0, text))
      })
    sent.end(body)
  })
}

/** How far an unanswered call came. */
function phaseOf({ socket, reusedSocket }: ClientRequest, status: number): string {
  if (socket === null || socket.connecting) return 'not connected'
  const connection = reusedSocket ? 'a connection used before' : 'a fresh connection'
  return `${connection}, ${socket.bytesWritten} bytes written, ${socket.bytesRead} read${status === 0 ? '' : `, status ${status}`}`
}

interface Answered {
  readonly kind: Kind
  readonly door: SoakDoor
  readonly status: number
  readonly text: string
}

function judge(counts: TrafficCounts, { kind, door, status, text }: Answered): void {
  counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
  const what = `${door.path} ${kind.behaviour} ${kind.stream ? 'stream' : 'json'}: ${status} ${text.slice(-200)}`
  if (status === 0 || (status >= 400 && !door.isRefusal(text))) note(counts, what)
  if (kind.stream && status === 200 && !door.isEnded(text)) {
    counts.unterminated++
    note(counts, `without an end: ${what}`)
  }
}

function note(counts: TrafficCounts, what: string): void {
  if (counts.unexpected.length < 20) counts.unexpected.push(what)
}

/** Creates, changes, uses and deletes keys, reads the lists, renames a destination, and scrapes the metrics. */
async function manage({ url, managementKey }: TrafficOptions, counts: TrafficCounts, running: () => boolean): Promise<void> {
  const api = async (method: string, path: string, body?: object): Promise<{ readonly data?: unknown; readonly key?: string }> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) note(counts, `${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
    if (method !== 'GET') counts.managementWrites++
    return path === '/metrics' ? {} : (JSON.parse(text === '' ? '{}' : text) as { readonly data?: unknown })
  }
  for (let n = 0; running(); n++) {
    try {
      const made = await api('POST', '/api/v1/keys', { name: `soak ${n}` })
      const { hash } = made.data as { readonly hash: string }
      await api('PATCH', `/api/v1/keys/${hash}`, { name: `soak ${n} renamed` })
      await api('GET', '/api/v1/keys')
      await api('GET', '/api/v1/generations?status=failed&limit=20')
      const [first] = (await api('GET', '/api/v1/observability/destinations')).data as readonly { readonly id: string }[]
      if (first !== undefined) await api('PATCH', `/api/v1/observability/destinations/${first.id}`, { name: `renamed ${n}` })
      await api('DELETE', `/api/v1/keys/${hash}`)
      await api('GET', '/metrics')
    } catch (error) {
      note(counts, `management: ${String(error)}`)
    }
    await sleep(MANAGEMENT_MS)
  }
}
