import { z } from 'zod'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ServerTool, ToolContext } from '../core/extension.ts'
import type { InputItem, JsonObject } from '../core/item.ts'
import { ownName } from '../core/own-names.ts'
import { agentFailure, agentRequest, agentSettings, checkAgentName, cutOffNote, modelOf as outerModel, userMessage, wordsOf } from './shared/agent.ts'
import { ItemText } from './shared/item-text.ts'

const settings = z.object({
  ...agentSettings,
  name: z.string().trim().min(1).max(64).optional(),
  forward_transcript: z.boolean().default(false),
  stream: z.boolean().default(false),
})
const parameters = z.object({
  prompt: z.string().optional().describe('What you want advice on, with everything the advisor must know.'),
  model: z.string().optional().describe('Which model to ask. Ignored when the advisor is fixed.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const MAX_CONSULTATIONS = 10

/** Asks another model, usually a stronger one, for advice. A request may have several named advisors. */
export const advisor: ServerTool<Settings, Arguments> = {
  name: 'advisor',
  description:
    'Asks an experienced advisor. Use it before you commit to an approach, when you are stuck, and before you call a hard task done; not for steps you can take yourself.',
  settings,
  parameters,
  agent: true,
  failable: true,
  showsError: true,
  timeoutMs: 300_000,
  present: ({ name, forward_transcript: all }) => ({
    ...(name === undefined ? {} : { name: `advisor_${name.toLowerCase().replace(/[^a-z0-9_-]+/g, '_')}`.slice(0, 60) }),
    description: `${advisor.description}${name === undefined ? '' : ` This advisor is called ${name}.`}${all ? ' It sees the whole conversation.' : ' It sees only your prompt.'}`,
  }),
  instanceName,
  check: ({ name }, request) => checkAgentName('advisor', name, request),
  begin: (args, context) => ({ ...identity(context), ...(args?.prompt === undefined ? {} : { prompt: args.prompt }), model: modelOf(args, context) }),
  async execute(args, context) {
    const { settings: own, call, uses } = context
    const fields = { ...identity(context), ...(args.prompt === undefined ? {} : { prompt: args.prompt }) }
    if (uses > MAX_CONSULTATIONS)
      return agentFailure(
        'The advisor',
        new GatewayError('rate_limit_exceeded', `only ${MAX_CONSULTATIONS} consultations are allowed in one request`),
        fields,
      )
    if (!own.forward_transcript && (args.prompt === undefined || args.prompt.trim() === ''))
      return agentFailure('The advisor', new GatewayError('invalid_request', 'there is no prompt'), fields)
    const shown = own.stream ? shownAdvice(context) : undefined
    try {
      const request = agentRequest(call.request, own, own.model ?? args.model, { input: conversation(args, context) })
      const answer = await context.ask(request, shown === undefined ? {} : { onEvents: (events) => showAdvice(events, shown) })
      const advice = wordsOf(answer)
      return {
        output: JSON.stringify({ status: 'ok', model: answer.model, advice, ...cutOffNote(answer) }),
        item: { ...fields, model: answer.model, advice },
      }
    } catch (error) {
      return agentFailure('The advisor', error, fields)
    } finally {
      shown?.end()
    }
  },
  replay: (item) => ({
    arguments: JSON.stringify({ prompt: item['prompt'] ?? '' }),
    output: JSON.stringify(
      item['error'] == null ? { status: 'ok', model: item['model'], advice: item['advice'] } : { status: 'error', error: item['error'] },
    ),
  }),
}

/** Streams advice to callers who asked to see it, as a text of the advisor's own item. The text also ends when the advisor's time is up. */
function shownAdvice(context: ToolContext<Settings>): ItemText {
  const shown = new ItemText((name, fields) => context.emit(name, fields))
  context.signal.addEventListener('abort', () => shown.end(), { once: true })
  return shown
}

function showAdvice(events: readonly ModelEvent[], shown: ItemText): void {
  for (const event of events) if (event.type === 'text-delta') shown.push(event.delta)
}

/** Advisors are identified by their name or by their position among the advisors of the request, so that each remembers only its own advice. */
function instanceName({ name }: Settings, instance: number): string {
  return name ?? `advisor_${instance}`
}
const identity = ({ settings: own, instance }: ToolContext<Settings>): { readonly instance_name: string } => ({
  instance_name: instanceName(own, instance),
})

const modelOf = (args: Arguments | undefined, { settings: own, call }: ToolContext<Settings>): string => own.model ?? args?.model ?? outerModel(call)

function conversation(args: Arguments, context: ToolContext<Settings>): readonly InputItem[] {
  const question = args.prompt === undefined ? [] : [userMessage(args.prompt)]
  if (context.settings.forward_transcript) {
    // The model's turn ends with the call to the advisor. Without that call, the advisor sees what led to the question.
    const open = new Set(context.transcript.filter(({ type }) => type === 'function_call_output').map((item) => (item as JsonObject)['call_id']))
    return [...context.transcript.filter((item) => item.type !== 'function_call' || open.has((item as JsonObject)['call_id'])), ...question]
  }
  return [...memories(context), ...question]
}

/** What this advisor was asked and what it said in earlier requests, as the caller replays it. */
function memories(context: ToolContext<Settings>): InputItem[] {
  const { instance_name: own } = identity(context)
  return context.call.request.input.flatMap((item): InputItem[] => {
    const { type, instance_name: name, prompt, advice } = item as JsonObject & { readonly type: string }
    if (ownName(type) !== 'advisor' || name !== own || typeof prompt !== 'string' || typeof advice !== 'string') return []
    return [userMessage(prompt), { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: advice }] }]
  })
}
