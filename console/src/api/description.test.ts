import { expect, it } from 'vitest'
import { readDescription } from './description.ts'

const read = (answer: Response): Promise<unknown> => readDescription({ signal: new AbortController().signal, fetch: async () => answer })

it('is the document of the gateway', async () => {
  expect(await read(Response.json({ openapi: '3.1.0', paths: {} }))).toEqual({ openapi: '3.1.0', paths: {} })
})

it.each(['{"message":"maintenance"}', 'null', '<html>Sign in</html>'])('takes %s for the answer of something else, such as a proxy', async (text) => {
  const message = expect.stringContaining('did not come from the gateway')
  await expect(read(new Response(text))).rejects.toMatchObject({ status: 0, message })
})

it('says what was refused, because a proxy may have closed it alone', async () => {
  const message = '/openapi.json: The gateway answered with status 404.'
  await expect(read(new Response('no', { status: 404 }))).rejects.toMatchObject({ status: 404, message })
})
