import { z } from 'zod'
import type { ServerTool } from '../core/extension.ts'
import { argumentsOf, callSandbox, requireSandbox, type Sandbox } from './shared/sandbox.ts'
import { cutText } from '../lib/cut-text.ts'

const settings = z.looseObject({ engine: z.string().optional(), environment: z.unknown().optional(), sleep_after_seconds: z.int().min(1).optional() })
const parameters = z.object({
  commands: z.array(z.string().min(1)).min(1).max(50).describe('Commands, run one after the other, each in a shell of its own.'),
  timeout_ms: z.int().min(1).max(600_000).optional().describe('Longest time for each command, milliseconds.'),
  max_output_length: z.int().min(1).optional().describe('Most characters to return of each stream of each command.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const outcome = z.union([z.looseObject({ type: z.literal('exit'), exit_code: z.int() }), z.looseObject({ type: z.literal('timeout') })])
const answer = z.object({
  output: z.array(
    z.object({ stdout: z.string().default(''), stderr: z.string().default(''), outcome: outcome.default({ type: 'exit', exit_code: 0 }) }),
  ),
})

/** Runs commands in the operator's sandbox. */
export function createShell(sandbox: Sandbox | undefined): ServerTool<Settings, Arguments> {
  return {
    name: 'shell',
    description: 'Runs shell commands in an isolated Linux environment and returns their output and how they ended.',
    settings,
    parameters,
    timeoutMs: 600_000,
    check: () => requireSandbox(sandbox, 'shell'),
    begin: (args, { callId, rawArguments }) => ({ call_id: callId, ...(args === undefined ? {} : { action: args, arguments: rawArguments }) }),
    async execute(args, context) {
      const { output } = answer.parse(await callSandbox(sandbox!, 'shell', args, context))
      const limit = args.max_output_length ?? 50_000
      const cut = output.map((entry) => ({ ...entry, stdout: cutText(entry.stdout, limit), stderr: cutText(entry.stderr, limit) }))
      return { output: JSON.stringify({ output: cut }), item: { output: cut } }
    },
    // Exactly as the model read it then, because prompt caches match exact text.
    replay: (item) => ({ arguments: argumentsOf(item, item['action'] ?? {}), output: JSON.stringify({ output: item['output'] }) }),
  }
}
