import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import type { GatewayError } from '../../core/error.ts'
import { LazyApi } from './lazy-handler.ts'

const request = { headers: {} } as IncomingMessage
let bugs: unknown[]
const options = {
  onBug: (error: GatewayError, requestId: string) => void bugs.push([(error.cause as Error).message, requestId]),
  newRequestId: () => 'r',
}
const fakeResponse = () => {
  const seen: unknown[] = []
  const response = {
    writeHead: (status: number) => (seen.push(status), response),
    end: (body: string) => (seen.push(JSON.parse(body)), response),
  }
  return { seen, response: response as unknown as ServerResponse }
}

it('the routes are built once, however many requests wait for them, and serve all of these', async () => {
  const handled: ServerResponse[] = []
  let built = 0
  const api = new LazyApi(() => {
    built++
    return Promise.resolve({
      app: { routing: (_: IncomingMessage, response: ServerResponse) => handled.push(response) } as unknown as FastifyInstance,
    })
  }, options)
  const responses = [1, 2, 3].map(() => fakeResponse().response)
  for (const response of responses) api.handle(request, response)
  await api.get()
  await Promise.resolve()
  api.handle(request, responses[0]!)
  expect(built).toBe(1)
  expect(handled).toEqual([...responses, responses[0]])
})

it('a failed build is reported to the caller and logged, and tried again with the next request', async () => {
  let tries = 0
  bugs = []
  const api = new LazyApi(
    () => (++tries === 1 ? Promise.reject(new Error('no')) : Promise.resolve({ app: { routing: () => undefined } as unknown as FastifyInstance })),
    options,
  )
  const { seen, response } = fakeResponse()
  api.handle({ headers: { 'x-request-id': 'mine-1' } } as unknown as IncomingMessage, response)
  await expect(api.get()).rejects.toThrow('no')
  await Promise.resolve()
  expect(seen).toEqual([
    500,
    {
      error: {
        code: 500,
        message: expect.stringContaining('mine-1') as string,
        metadata: expect.objectContaining({ request_id: 'mine-1' }) as object,
      },
    },
  ])
  expect(bugs).toEqual([['no', 'mine-1']])
  await api.get()
  expect(tries).toBe(2)
})
