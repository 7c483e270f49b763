// A destination of your own: a small server that is told of every generation, registered, used once and deleted again. Needs both keys.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

interface Traces {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}
interface Span {
  readonly name: string
  readonly traceId: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

async function ask(key: string | undefined, method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })
  if (!response.ok) throw new Error(await response.text())
  return response
}

// OTLP in JSON: a body may hold many generations, and one that was not answered with 2xx comes again.
const receiver = createServer((request, response) => {
  void json(request).then((body) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    const spans = (body as Traces).resourceSpans?.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)) ?? []
    for (const { name, attributes } of spans) {
      console.log(name)
      for (const { key, value } of attributes) console.log(`  ${key}: ${JSON.stringify(Object.values(value)[0])}`)
    }
    if (spans.length > 0) receiver.emit('told')
  })
})
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const told = once(receiver, 'told', { signal: AbortSignal.timeout(30_000) })

const management = process.env['SIGNALBOX_MANAGEMENT_KEY']
const created = await ask(management, 'POST', '/observability/destinations', {
  type: 'webhook',
  name: 'example',
  config: { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/traces` },
})
const { data } = (await created.json()) as { readonly data: { readonly id: string } }
try {
  const call = { model: process.env['MODEL'] ?? 'demo/echo', input: 'Tell the webhook.', trace: { trace_name: 'example', team: 'docs' } }
  await ask(process.env['SIGNALBOX_API_KEY'], 'POST', '/responses', call)
  await told
} finally {
  await ask(management, 'DELETE', `/observability/destinations/${data.id}`)
  receiver.close()
}
