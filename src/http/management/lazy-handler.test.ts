import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { LazyApi } from './lazy-handler.ts'

const request = {} as IncomingMessage
const fakeResponse = () => {
  const seen: number[] = []
  const response = { writeHead: (status: number) => (seen.push(status), response), end: () => response }
  return { seen, response: response as unknown as ServerResponse }
}

it('builds once, however many requests come while it is built, and hands all of them over', async () => {
  const handled: ServerResponse[] = []
  let built = 0
  const api = new LazyApi(() => {
    built++
    return Promise.resolve({
      app: { routing: (_: IncomingMessage, response: ServerResponse) => handled.push(response) } as unknown as FastifyInstance,
    })
  })
  const responses = [1, 2, 3].map(() => fakeResponse().response)
  for (const response of responses) api.handle(request, response)
  await api.get()
  await Promise.resolve()
  api.handle(request, responses[0]!)
  expect(built).toBe(1)
  expect(handled).toEqual([...responses, responses[0]])
})

it('answers 500 when it cannot be built, and tries again with the next request', async () => {
  let tries = 0
  const api = new LazyApi(() =>
    ++tries === 1 ? Promise.reject(new Error('no')) : Promise.resolve({ app: { routing: () => undefined } as unknown as FastifyInstance }),
  )
  const { seen, response } = fakeResponse()
  api.handle(request, response)
  await expect(api.get()).rejects.toThrow('no')
  await Promise.resolve()
  expect(seen).toEqual([500])
  await api.get()
  expect(tries).toBe(2)
})
