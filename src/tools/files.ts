import { z } from 'zod'
import type { ServerTool } from '../core/extension.ts'
import { argumentsOf, callSandbox, requireSandbox, type Sandbox } from './shared/sandbox.ts'

const settings = z.looseObject({})
const parameters = z.object({
  operation: z.enum(['list', 'read', 'write', 'edit']),
  file_id: z.string().optional().describe('The file to read or edit.'),
  filename: z.string().optional().describe('Name of the file, with its folders.'),
  filename_filter: z.string().optional().describe('list: only files whose names contain this.'),
  content: z.string().optional().describe('write: the whole text.'),
  old_string: z.string().optional().describe('edit: the text to replace; it must occur once.'),
  new_string: z.string().optional().describe('edit: what stands there instead.'),
  new_filename: z.string().optional().describe('edit: another name for the changed copy.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const answer = z.object({
  result: z.unknown().optional(),
  error: z.string().optional(),
  file_id: z.string().optional(),
  filename: z.string().optional(),
})

/** Files of the workspace, stored by the operator's sandbox. */
export function createFiles(sandbox: Sandbox | undefined): ServerTool<Settings, Arguments> {
  return {
    name: 'files',
    description: 'Lists, reads, writes and edits text files of the workspace. An edit makes a changed copy and leaves the original as it is.',
    settings,
    parameters,
    timeoutMs: 60_000,
    showsError: true,
    check: () => requireSandbox(sandbox, 'files'),
    begin: (args, { callId, rawArguments }) => ({
      call_id: callId,
      ...(args === undefined ? {} : { operation: args.operation, arguments: rawArguments }),
      ...(args?.filename === undefined ? {} : { filename: args.filename }),
      ...(args?.file_id === undefined ? {} : { file_id: args.file_id }),
    }),
    async execute(args, context) {
      const { result, error, file_id: fileId, filename } = answer.parse(await callSandbox(sandbox!, 'files', args, context))
      const named = { ...(fileId === undefined ? {} : { file_id: fileId }), ...(filename === undefined ? {} : { filename }) }
      if (error !== undefined)
        return { output: JSON.stringify({ error }), item: { ...named, error }, error: { type: 'invalid_arguments', message: error, lasting: true } }
      const text = typeof result === 'string' ? result : JSON.stringify(result ?? null)
      return { output: JSON.stringify({ result }), item: { ...named, result: text } }
    },
    replay: (item) => ({
      arguments: argumentsOf(item, { operation: item['operation'], file_id: item['file_id'], filename: item['filename'] }),
      output: JSON.stringify(item['error'] == null ? { result: item['result'] } : { error: item['error'] }),
    }),
  }
}
