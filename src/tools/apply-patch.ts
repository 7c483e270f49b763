import { z } from 'zod'
import type { ServerTool } from '../core/extension.ts'

const settings = z.object({ engine: z.string().default('auto') })
const parameters = z.object({
  type: z.enum(['create_file', 'update_file', 'delete_file']),
  path: z.string().min(1).max(4_096).describe('Path of the file, relative to the root of the project.'),
  diff: z
    .string()
    .optional()
    .describe(
      'create_file: every line of the new file, each beginning with "+". update_file: hunks that begin with a line "@@" (and, after a space, the line of ' +
        'code they stand under), then lines that begin with " " (context), "-" (removed) or "+" (added). delete_file: leave it out.',
    ),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

/** Validates a proposed change of a file and passes it to the caller, who alone applies it. */
export const applyPatch: ServerTool<Settings, Arguments> = {
  name: 'apply_patch',
  description: 'Proposes to create, change or delete one file. The user applies it and reports what happened. One call per file.',
  settings,
  parameters,
  timeoutMs: 5_000,
  // The vendor's own name for this tool: calls under either name become the vendor's item.
  aliases: ['apply_patch'],
  // The provider's own tool streams its diff; without it, the proposal is a single item of the same type.
  hosted: ({ engine }) => (engine === 'auto' || engine === 'native' ? { type: 'apply_patch' } : undefined),
  begin: () => undefined,
  async execute({ type, path, diff }, { callId }) {
    const fault = findFault(type, path, diff)
    if (fault !== undefined) {
      const message = `The patch is not valid: ${fault}`
      return { output: JSON.stringify({ status: 'error', error: message }), error: { type: 'invalid_arguments', message } }
    }
    const operation = type === 'delete_file' ? { type, path } : { type, path, diff: diff ?? '' }
    return { output: 'proposed', handBack: { type: 'apply_patch_call', call_id: callId, status: 'completed', operation } }
  },
}

const MARKERS = /^\*\*\* (?:End of File|Begin Patch|End Patch)$/

/** The first problem with a patch, in terms that the model can act on. */
function findFault(type: Arguments['type'], path: string, diff: string | undefined): string | undefined {
  if (path.trim() === '') return 'the path is empty'
  if (/\p{Cc}/u.test(path)) return 'the path contains control characters'
  if (type === 'delete_file') return undefined
  if (diff === undefined || diff === '') return type === 'create_file' ? undefined : 'the diff is missing'
  const lines = diff.replace(/\n$/, '').split('\n')
  if (type === 'create_file') {
    const wrong = lines.findIndex((line) => !line.startsWith('+'))
    return wrong < 0 ? undefined : `line ${wrong + 1} of a new file must begin with "+"`
  }
  const wrong = lines.findIndex((line) => line !== '' && !/^(?:[ +-]|@@)/.test(line) && !MARKERS.test(line))
  if (wrong >= 0) return `line ${wrong + 1} must begin with " ", "-", "+" or "@@"`
  return lines.some((line) => line.startsWith('+') || line.startsWith('-')) ? undefined : 'it changes nothing'
}
