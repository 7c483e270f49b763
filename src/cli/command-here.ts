import { basename } from 'node:path'

export interface Invocation {
  readonly env: { readonly [name: string]: string | undefined }
  /** As `process.argv`. */
  readonly argv: readonly string[]
  readonly execPath: string
}

/** How commands are run where this process was started: an image, a service and a global installation have no `npm run signalbox`. */
export function commandHere({ env, argv, execPath }: Invocation): string {
  // Set for everything that npm starts, `npm start` and `npx` included.
  if (env['npm_lifecycle_event'] !== undefined) return 'npx signalbox'
  const script = argv[1] ?? ''
  if (basename(script) === 'signalbox') return 'signalbox'
  return [execPath, script].map(quoted).join(' ')
}

/** For a POSIX shell. */
const quoted = (text: string): string => (/^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)
