import { z } from 'zod'
import type { ServerTool } from '../core/extension.ts'
import type { JsonObject } from '../core/item.ts'
import { argumentsOf, callSandbox, requireSandbox, type Sandbox } from './shared/sandbox.ts'
import { cutText } from '../lib/cut-text.ts'

const settings = z.looseObject({ engine: z.string().optional(), environment: z.unknown().optional(), sleep_after_seconds: z.int().min(1).optional() })
const parameters = z.object({
  command: z.string().min(1).max(100_000).describe('A command line for bash.'),
  restart: z.boolean().optional().describe('Begin with a new shell.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const MAX_OUTPUT = 100_000
const answer = z.object({ stdout: z.string().default(''), stderr: z.string().default(''), exit_code: z.int().default(0) })

/** Runs one command line in the operator's sandbox. */
export function createBash(sandbox: Sandbox | undefined): ServerTool<Settings, Arguments> {
  return {
    name: 'bash',
    description: 'Runs a command line in an isolated Linux environment that lasts for this conversation.',
    settings,
    parameters,
    timeoutMs: 600_000,
    check: () => requireSandbox(sandbox, 'bash'),
    begin: (args, { callId, rawArguments }) => ({
      call_id: callId,
      ...(args === undefined ? {} : { command: args.command, arguments: rawArguments }),
    }),
    async execute(args, context) {
      const { stdout, stderr, exit_code: exitCode } = answer.parse(await callSandbox(sandbox!, 'bash', args, context))
      const cut = { stdout: cutText(stdout, MAX_OUTPUT), stderr: cutText(stderr, MAX_OUTPUT), exitCode }
      return { output: outputOf(cut), item: cut }
    },
    replay: (item) => ({
      arguments: argumentsOf(item, { command: item['command'] }),
      output: outputOf(item),
    }),
  }
}

/** What the model reads. The same for a new call and for one in the history, because prompt caches match exact text. */
const outputOf = ({ stdout, stderr, exitCode }: JsonObject): string => JSON.stringify({ stdout, stderr, exit_code: exitCode })
