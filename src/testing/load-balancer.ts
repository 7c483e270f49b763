import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface BalancerOptions {
  /** Base URLs. */
  readonly targets: readonly string[]
  readonly key: string
  /** Number of parallel callers. */
  readonly parallel: number
  /** The body of call number n. */
  readonly body: (n: number) => object
  readonly checkEveryMs?: number
}

export interface BalancedCall {
  readonly target: string
  /** 0: the connection failed. */
  readonly status: number
  readonly text: string
  /** When it was sent and when it ended, in milliseconds of `performance.now()`. */
  readonly since: number
  readonly at: number
}

/** Calls gateways as a typical load balancer does: it polls `readyz`, keeps connections open, and never retries a call. */
export interface Balancer {
  readonly calls: readonly BalancedCall[]
  /** Replaces a target, which then gets no more calls. */
  replace(index: number, url: string): void
  stop(): Promise<void>
}

const LIMIT_MS = 20_000

export function startBalancer({ targets, key, parallel, body, checkEveryMs = 100 }: BalancerOptions): Balancer {
  const urls = [...targets]
  const agents = urls.map(() => new Agent({ keepAlive: true, maxSockets: parallel }))
  const ready = urls.map(() => true)
  const calls: BalancedCall[] = []
  let next = 0
  const stopped = new AbortController()
  const running = (): boolean => !stopped.signal.aborted

  const check = async (): Promise<void> => {
    while (running()) {
      await Promise.all(
        urls.map(async (url, i) => {
          const answer = await send(`${url}/readyz`, 'GET', new Agent({ keepAlive: false }), key).catch(() => ({ status: 0 }))
          if (urls[i] === url) ready[i] = answer.status === 200
        }),
      )
      await sleep(checkEveryMs)
    }
  }
  const choose = (): number | undefined => {
    for (let tries = 0; tries < urls.length; tries++) {
      const i = next++ % urls.length
      if (ready[i] === true) return i
    }
    return undefined
  }
  const caller = async (): Promise<void> => {
    while (running()) {
      const i = choose()
      if (i === undefined) {
        await sleep(5)
        continue
      }
      const target = urls[i]!
      const since = performance.now()
      const sent = await send(`${target}/api/v1/responses`, 'POST', agents[i]!, key, body(calls.length)).catch((error: Error) => ({
        status: 0,
        text: error.message,
      }))
      calls.push({ target, ...sent, since, at: performance.now() })
      // A dead target gets no calls until the next check.
      if (sent.status === 0) ready[i] = false
    }
  }
  const work = [check(), ...Array.from({ length: parallel }, caller)]
  return {
    calls,
    replace: (i, url) => {
      urls[i] = url
      ready[i] = false
    },
    async stop() {
      stopped.abort()
      await Promise.all(work)
      for (const agent of agents) agent.destroy()
    },
  }
}

function send(url: string, method: string, agent: Agent, key: string, body?: object): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const sent = request(url, { method, agent, headers, timeout: LIMIT_MS })
    sent
      .on('timeout', () => sent.destroy(new Error('no answer in time')))
      .on('error', reject)
      .on('response', (response) => {
        let text = ''
        response
          .on('data', (chunk: Buffer) => (text += chunk.toString()))
          .on('error', reject)
          .on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
