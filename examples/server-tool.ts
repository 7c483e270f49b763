// A tool that the gateway runs: the caller reads the call, what came of it, and the answer, in one stream.
const response = await fetch(`${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1/responses`, {
  method: 'POST',
  headers: { authorization: `Bearer ${process.env['SIGNALBOX_API_KEY']}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: process.env['MODEL'] ?? 'demo/tool', input: 'What time is it?', tools: [{ type: 'gateway:datetime' }] }),
  signal: AbortSignal.timeout(60_000),
})
if (!response.ok) throw new Error(await response.text())
const { output } = (await response.json()) as { readonly output: readonly { readonly type: string }[] }
for (const item of output) console.log(item)
