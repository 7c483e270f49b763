import { differences, type Difference } from '../config/difference.ts'
import { readDocument } from '../config/load.ts'
import { defined } from '../lib/defined.ts'
import { resolved } from './check.ts'
import type { Overrides } from './overrides.ts'
import { loadOptions } from './serve.ts'

/**
 * `signalbox diff`: what another file would change against the configuration that the other commands use, under the same environment and flags.
 * Throws ConfigError for a file that cannot be read, and for another file that a gateway would refuse: such a file changes nothing.
 */
export async function diff(other: string, overrides: Overrides): Promise<void> {
  const options = loadOptions(overrides)
  const before = await readDocument(options)
  const after = await readDocument({ ...options, file: other })
  // Checks what was read instead of reading again: a pipe such as the shell's `<(...)` can be read only once.
  await resolved({ ...options, read: defined({ file: after.file, text: after.text }) })
  const found = differences(before, after)
  const lines = [`${before.file ?? 'defaults and environment'} -> ${after.file}`, ...(found.length === 0 ? ['no difference'] : found.map(inWords))]
  process.stdout.write(`${lines.join('\n')}\n`)
}

const SIGNS: { readonly [kind in Difference['kind']]: string } = { added: '+', removed: '-', changed: '~', order: '~' }

function inWords({ path, kind, before, after, needsRestart }: Difference): string {
  const values = [before, after].filter((value) => value !== undefined).join(' -> ')
  const order = kind === 'order' ? ' (order)' : ''
  return `${SIGNS[kind]} ${path}${order}${values === '' ? '' : `: ${values}`}${needsRestart ? ' (needs a new process)' : ''}`
}
