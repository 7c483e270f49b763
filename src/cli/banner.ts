import type { GeneratedKey } from '../accounts/bootstrap.ts'

const EXAMPLE_MODEL = 'demo/echo'

export interface BannerOptions {
  readonly url: string
  readonly generated: readonly GeneratedKey[]
  readonly models: number
  readonly providers: readonly string[]
  readonly dataDir: string
}

/** What a newcomer sees after `npm start`: where it listens, the keys that are shown once, and a curl that works as it stands. */
export function banner(options: BannerOptions): string {
  const inference = options.generated.find(({ key }) => key.kind === 'inference')
  const management = options.generated.find(({ key }) => key.kind === 'management')
  const lines = [`Signalbox listens on ${options.url} (${options.models} models from ${options.providers.join(', ')}; data in ${options.dataDir})`]
  if (inference !== undefined || management !== undefined) {
    lines.push('', 'These keys are shown this once; only their hashes are kept:')
    if (inference !== undefined) lines.push(`  inference   ${inference.secret.reveal()}`)
    if (management !== undefined) lines.push(`  management  ${management.secret.reveal()}`)
  }
  const key = inference?.secret.reveal() ?? '$SIGNALBOX_API_KEY'
  lines.push(
    '',
    `Try it${inference === undefined ? ' (with your inference key in SIGNALBOX_API_KEY)' : ''}:`,
    '',
    `curl -N ${options.url}/api/v1/responses \\`,
    `  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `  -d '{"model":"${EXAMPLE_MODEL}","input":"Hello from Signalbox","stream":true}'`,
    '',
  )
  return `${lines.join('\n')}\n`
}
