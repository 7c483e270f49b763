import { z } from 'zod'
import { asGatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { CitableSource, ModelAnswer, ServerTool, ToolContext, ToolResult } from '../core/extension.ts'
import type { JsonObject, Tool } from '../core/item.ts'
import type { TextFormat } from '../core/request.ts'
import { agentRequest, agentSettings, modelOf, userMessage, wordsOf } from './shared/agent.ts'
import { WholeDeltas } from './shared/whole-deltas.ts'
import { cutText } from '../lib/cut-text.ts'
import { parseJsonText } from '../lib/json.ts'

const settings = z.object({
  ...agentSettings,
  analysis_models: z.array(z.string()).min(1).max(8).optional(),
  cache_control: z.looseObject({}).optional(),
  max_tool_calls: z.int().min(1).max(16).default(4),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(8)
    .optional(),
})
const parameters = z.object({ prompt: z.string().min(1).describe('The question for the panel, complete in itself.') })

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const texts = z.array(z.string()).catch([])
const analysisSchema = z.object({
  consensus: texts.describe('What all or most answers agree on.'),
  contradictions: z.array(z.object({ topic: z.string(), stances: z.array(z.object({ model: z.string(), stance: z.string() })) })).catch([]),
  partial_coverage: z
    .array(z.object({ models: z.array(z.string()), point: z.string() }))
    .catch([])
    .describe('Points only some answers make.'),
  unique_insights: z.array(z.object({ model: z.string(), insight: z.string() })).catch([]),
  blind_spots: texts.describe('What no answer covers.'),
})
type Analysis = z.infer<typeof analysisSchema>

const ANALYST =
  'You compare answers of several models to one question. You do not merge them and add no answer of your own. Reply with the JSON object only.'
const PANEL_CHARS = 60_000
/** Limit for each answer, unless the caller sets one. */
const OUTPUT_TOKENS = 16_000

export interface FusionOptions {
  /** The most output tokens that any endpoint of a model allows; Infinity if unknown. */
  readonly outputLimit: (model: string) => number
  /** The operator's panel; without one, the model of the request answers alone. */
  readonly models: readonly string[] | undefined
  /** Server tools of the panel if the caller names none: those that this gateway can run. */
  readonly defaultTools: readonly Tool[]
}

interface Panelist {
  readonly model: string
  readonly answer?: ModelAnswer
  readonly failure?: { readonly error: string; readonly status_code: number; readonly type: string }
}

/** Asks a panel of models in parallel and has an analyst compare their answers. */
export function createFusion({ models, defaultTools, outputLimit }: FusionOptions): ServerTool<Settings, Arguments> {
  /** Enough for models with long reasoning, but no more than the model allows: with a higher limit, no endpoint could serve it. */
  const bound = (model: string): Partial<Settings> => ({ max_completion_tokens: Math.min(OUTPUT_TOKENS, outputLimit(model)) })
  return {
    name: 'fusion',
    description:
      'Asks a panel of models the same question and returns their answers with an analysis of where they agree, differ and fall short. ' +
      'For research, comparisons and decisions where being wrong is expensive; not for simple questions. Can be used once.',
    settings,
    parameters,
    agent: true,
    showsError: true,
    timeoutMs: 540_000,
    nested: ({ tools }) => tools,
    begin: () => ({}),
    async execute({ prompt }, context) {
      if (context.uses > 1) return failed('fusion was used in this request already', 'fusion_invocation_capped')
      context.emit('fusion_call.in_progress')
      const panel = context.settings.analysis_models ?? models ?? [modelOf(context.call)]
      const tools = (context.settings.tools as readonly Tool[] | undefined) ?? defaultTools
      const answers = await Promise.all(panel.map((model) => askPanelist(model, prompt, tools, bound(model), context)))
      const served = answers.filter((panelist): panelist is Panelist & { readonly answer: ModelAnswer } => panelist.answer !== undefined)
      const failures = answers.flatMap(({ model, failure }) =>
        failure === undefined ? [] : [{ model, error: failure.error, status_code: failure.status_code }],
      )
      if (served.length === 0) return failed('all models of the panel failed', reasonFor(answers), failures)
      const analysis = await analyse(prompt, served, bound, context)
      context.emit('fusion_call.completed')
      return toResult(served, failures, analysis)
    },
    replay: (item) => {
      const { analysis, responses, error } = item
      return { arguments: '{}', output: JSON.stringify({ status: error == null ? 'ok' : 'error', analysis, responses, error }) }
    },
  }
}

async function askPanelist(
  model: string,
  prompt: string,
  tools: readonly Tool[],
  bound: Partial<Settings>,
  context: ToolContext<Settings>,
): Promise<Panelist> {
  const { settings: own, call } = context
  const shown = new ShownPanelist(model, context)
  context.emit('fusion_call.panel.added', { model })
  try {
    const request = agentRequest(call.request, { ...bound, ...own }, model, {
      input: [userMessage(prompt)],
      max_tool_calls: own.max_tool_calls,
      ...(tools.length > 0 ? { tools } : {}),
    })
    const answer = await context.ask(request, { onEvents: (events) => shown.push(events) })
    shown.end()
    context.emit('fusion_call.panel.completed', { model, content: wordsOf(answer) })
    return { model, answer }
  } catch (error) {
    const { errorType, message, status } = asGatewayError(error)
    const text = errorType === 'server' ? 'the model gave no answer' : message
    shown.end()
    context.emit('fusion_call.panel.failed', { model, error: text, status_code: status })
    return { model, failure: { error: text, status_code: status, type: errorType } }
  }
}

/** Shows the reasoning and text of one panelist to callers who watch. */
class ShownPanelist {
  readonly #model: string
  readonly #emit: ToolContext['emit']
  readonly #text = new WholeDeltas()
  readonly #thoughts = new WholeDeltas()

  constructor(model: string, { emit }: Pick<ToolContext, 'emit'>) {
    this.#model = model
    this.#emit = emit
  }

  push(events: readonly ModelEvent[]): void {
    for (const event of events) {
      if (event.type === 'text-delta') this.#show('delta', this.#text.take(event.delta))
      else if (event.type === 'reasoning-delta') this.#show('reasoning.delta', this.#thoughts.take(event.delta))
    }
  }

  end(): void {
    this.#show('reasoning.delta', this.#thoughts.end())
    this.#show('delta', this.#text.end())
  }

  #show(what: 'delta' | 'reasoning.delta', delta: string): void {
    if (delta !== '') this.#emit(`fusion_call.panel.${what}`, { model: this.#model, delta })
  }
}

/** If the analyst fails, only the analysis is lost, not the answers. */
async function analyse(
  prompt: string,
  served: readonly (Panelist & { readonly answer: ModelAnswer })[],
  bound: (model: string) => Partial<Settings>,
  context: ToolContext<Settings>,
): Promise<Analysis | undefined> {
  const { settings: own, call } = context
  const model = own.model ?? modelOf(call)
  context.emit('fusion_call.analysis.in_progress', { analyst_model: model, judge_model: model })
  const share = Math.floor(PANEL_CHARS / served.length)
  const panel = served
    .map((panelist) => `<answer model=${JSON.stringify(panelist.model)}>\n${cutText(panelist.answer.text, share)}\n</answer>`)
    .join('\n\n')
  const { $schema: _, ...schema } = z.toJSONSchema(analysisSchema, { io: 'output' }) as JsonObject
  const format: TextFormat = { type: 'json_schema', name: 'analysis', schema }
  try {
    const answer = await context.ask(
      agentRequest(call.request, { ...bound(model), ...own, instructions: ANALYST, temperature: 0 }, own.model, {
        input: [userMessage(`Question:\n${prompt}\n\n${panel}\n\nSchema of your reply:\n${JSON.stringify(schema)}`)],
        text: { format },
      }),
    )
    const analysis = analysisSchema.safeParse(parseLoosely(answer.text))
    if (!analysis.success) return undefined
    context.emit('fusion_call.analysis.completed', { analysis: analysis.data })
    return analysis.data
  } catch {
    return undefined
  }
}

/** The object in an answer that may have a fence or text around it. */
function parseLoosely(text: string): unknown {
  const from = text.indexOf('{')
  const to = text.lastIndexOf('}')
  try {
    return from < 0 ? undefined : parseJsonText(text.slice(from, to + 1))
  } catch {
    return undefined
  }
}

function toResult(
  served: readonly (Panelist & { readonly answer: ModelAnswer })[],
  failures: readonly JsonObject[],
  analysis: Analysis | undefined,
): ToolResult {
  const sources = unique(served.flatMap((panelist) => panelist.answer.sources))
  const fields = {
    ...(analysis === undefined ? {} : { analysis }),
    responses: served.map(({ model, answer: { text } }) => ({ model, content: text })),
    ...(failures.length === 0 ? {} : { failed_models: failures }),
  }
  return {
    output: JSON.stringify({ status: 'ok', ...fields }),
    item: { ...fields, ...(sources.length === 0 ? {} : { sources: sources.map(({ url, title }) => ({ url, title })) }) },
    sources,
  }
}

const unique = (sources: readonly CitableSource[]): CitableSource[] => [...new Map(sources.map((source) => [source.url, source])).values()]

function reasonFor(answers: readonly Panelist[]): string {
  const types = answers.map(({ failure }) => failure?.type)
  if (types.includes('payment_required')) return 'insufficient_credits'
  return types.includes('rate_limit_exceeded') ? 'rate_limited' : 'all_panels_failed'
}

function failed(message: string, reason: string, failures: readonly JsonObject[] = []): ToolResult {
  const fields = { error: message, failure_reason: reason, ...(failures.length === 0 ? {} : { failed_models: failures }) }
  return { output: JSON.stringify({ status: 'error', ...fields }), item: fields, error: { type: reason, message } }
}
