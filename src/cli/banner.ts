import type { GeneratedKey } from '../accounts/bootstrap.ts'
import type { Role } from '../core/config.ts'

const EXAMPLE_MODEL = 'demo/echo'

export interface BannerOptions {
  readonly url: string
  readonly generated: readonly GeneratedKey[]
  readonly models: number
  readonly providers: readonly string[]
  readonly dataDir: string
  readonly role: Role
  /** Processes that share the port. */
  readonly workers: number
  /** Whether there is a web console to open. */
  readonly hasConsole: boolean
  /** How a command is run here, such as `npx signalbox`. */
  readonly command: string
}

/** What a newcomer sees after `npm start`: where it listens, the keys that are shown once, and a curl that works as it stands. */
export function banner(options: BannerOptions): string {
  const { url, generated, workers } = options
  if (options.role === 'worker') return `Signalbox delivers (role worker); probes and metrics on ${url} (data in ${options.dataDir})\n\n`
  const many = workers > 1 ? ` with ${workers} processes` : ''
  const lines = [`Signalbox listens on ${url}${many} (${options.models} models from ${options.providers.join(', ')}; data in ${options.dataDir})`]
  if (generated.length > 0) lines.push('', ...keyLines(generated))
  const inference = generated.find(({ key }) => key.kind === 'inference')
  const key = inference?.secret.reveal() ?? '$SIGNALBOX_API_KEY'
  lines.push(
    '',
    `Try it${inference === undefined ? ' (with your inference key in SIGNALBOX_API_KEY)' : ''}:`,
    '',
    `curl -N ${url}/api/v1/responses \\`,
    `  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `  -d '{"model":"${EXAMPLE_MODEL}","input":"Hello from Signalbox","stream":true}'`,
    '',
    ...consoleLines(options),
    ...nextStep(options),
  )
  return `${lines.join('\n')}\n`
}

/** If a key is shown anyway, the link signs in with it. The key is in the fragment, which browsers never send to a server. */
function consoleLines({ url, generated, hasConsole }: BannerOptions): readonly string[] {
  if (!hasConsole) return []
  const management = generated.find(({ key }) => key.kind === 'management')
  return [`Console: ${url}/console/${management === undefined ? '' : `#key=${management.secret.reveal()}`}`, '']
}

/** What to do next when only the simulated models are switched on. */
function nextStep({ providers, command }: BannerOptions): readonly string[] {
  if (providers.some((slug) => !EXAMPLE_MODEL.startsWith(`${slug}/`))) return []
  return [`These models are simulated. Real ones are on once the usual variable of a vendor is set (${command} check --providers lists all).`, '']
}

/** Keys that were just made. They can be read only here, once. */
export function keyLines(generated: readonly GeneratedKey[]): readonly string[] {
  return [
    'These keys are shown this once; only their hashes are kept:',
    ...generated.map(({ key, secret }) => `  ${key.kind.padEnd(11)} ${secret.reveal()}`),
  ]
}
