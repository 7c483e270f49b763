import { expect, it } from 'vitest'
import { explain } from './explain.ts'

const asked = (answer: () => Promise<Response>) => explain({ model: 'm' }, { key: 'sk-1', signal: new AbortController().signal, fetch: answer })

it('explains in its own words that the gateway cannot be reached, before and during its answer', async () => {
  const away = { status: 0, message: 'The gateway cannot be reached.' }
  await expect(asked(() => Promise.reject(new TypeError('Failed to fetch')))).rejects.toMatchObject(away)
  const broken = new ReadableStream({ start: (controller) => controller.error(new TypeError('network error')) })
  await expect(asked(async () => new Response(broken))).rejects.toMatchObject(away)
})

it('says why it was refused', async () => {
  const refusal = { error: { code: 400, message: 'no such model', metadata: { error_type: 'invalid_request', path: 'model' } } }
  await expect(asked(async () => Response.json(refusal, { status: 400 }))).rejects.toMatchObject({ status: 400, message: 'no such model' })
})

it.each(['{"message":"maintenance"}', 'null', '[]'])('takes %s for the answer of something else, such as a proxy', async (text) => {
  await expect(asked(async () => new Response(text))).rejects.toMatchObject({
    status: 0,
    message: expect.stringContaining('did not come from the gateway'),
  })
})
