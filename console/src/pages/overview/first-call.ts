/** A shell command that calls a model of the gateway at `origin`; the model's name is quoted, whatever it contains. */
export function firstCall(origin: string, model: string): string {
  const body = JSON.stringify({ model, input: 'Hello, Signalbox!', stream: true }).replaceAll("'", String.raw`'\''`)
  return [
    `curl -N ${origin}/api/v1/responses \\`,
    '  -H "Authorization: Bearer $SIGNALBOX_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n')
}
