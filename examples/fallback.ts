// The first model is down. The caller gets the answer of the second, and may ask what happened.
const response = await fetch(`${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1/responses`, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${process.env['SIGNALBOX_API_KEY']}`,
    'content-type': 'application/json',
    'x-gateway-experimental-metadata': 'enabled',
  },
  body: JSON.stringify({ models: ['demo/error-503', process.env['MODEL'] ?? 'demo/echo'], input: 'Is anybody there?' }),
  signal: AbortSignal.timeout(60_000),
})
interface Answer {
  readonly model: string
  readonly output_text: string
  readonly gateway_metadata: { readonly attempts?: readonly { readonly model: string; readonly provider: string; readonly status: number }[] }
}
if (!response.ok) throw new Error(await response.text())
const { model, output_text, gateway_metadata } = (await response.json()) as Answer
console.log(`${model}: ${output_text}`)
for (const attempt of gateway_metadata.attempts ?? []) console.log(`${attempt.model} at ${attempt.provider}: ${attempt.status}`)
