import type { GatewayError } from '../../core/error.ts'
import type { ModelRequest } from '../../core/request.ts'
import { refusedForm, withRequestForms } from './request-forms.ts'
import { descriptionLimit, withShortDescriptions } from './short-descriptions.ts'

/** Parameters that an answer can do without, by the letters of their names in any format. Limits and choices of tools are not among them. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['temperature', 'temperature'],
  ['topp', 'top_p'],
  ['topk', 'top_k'],
  ['topa', 'top_a'],
  ['minp', 'min_p'],
  ['frequencypenalty', 'frequency_penalty'],
  ['presencepenalty', 'presence_penalty'],
  ['repetitionpenalty', 'repetition_penalty'],
  ['seed', 'seed'],
  ['logitbias', 'logit_bias'],
  ['paralleltoolcalls', 'parallel_tool_calls'],
  ['verbosity', 'verbosity'],
  ['textverbosity', 'verbosity'],
  ['reasoningeffort', 'reasoning'],
  ['reasoning', 'reasoning'],
  ['reasoningsummary', 'reasoning.summary'],
  ['user', 'user'],
  ['safetyidentifier', 'safety_identifier'],
  ['promptcachekey', 'prompt_cache_key'],
  ['promptcacheretention', 'prompt_cache_retention'],
  ['servicetier', 'service_tier'],
])

/** How servers say that a parameter is not supported. Not that its value is out of range, which is the caller's fault. */
const REFUSAL =
  /unsupported (?:parameter|value|argument)|(?:parameter|argument|field|value)s? (?:is |are )?(?:not supported|unsupported)|unrecognized (?:request )?(?:argument|parameter|field)|unknown (?:parameter|field|name|argument)|extra (?:inputs|fields) (?:are )?not permitted|(?:is|are) (?:not supported|unsupported|deprecated|not enabled|not allowed) (?:on|by|with|for|when) |property '[^']{1,80}' is unsupported|does(?:n't| not) support (?:the )?(?:parameter|field|argument|setting)|does(?:n't| not) support the [a-z_.]{2,40} field(?! of)|cannot both be specified/i

/** The value is fixed for the model, or while it reasons; without the parameter that value is used. */
const FIXED =
  /\binvalid ([a-z_]+): only [\d.]+ is allowed\b|\b(temperature|top_p|top_k)\b\W? (?:may only be|must be) .{1,60}when thinking is enabled/i

/** Names as they appear in messages: quoted, or after a colon. */
const QUOTED =
  /["'`]([A-Za-z_.]{3,40})["'`]|\b([a-z]+(?:_[a-z]+)+|[a-z]+(?:[A-Z][a-z]*)+|temperature)\b|(?:supplied|parameter|argument|model|s\)): ?([A-Za-z_.]{3,40})/g

/** A parameter that must be sent as "none" instead of being left out: some models reason by default and accept no tools while they do. */
const BESIDE_TOOLS = 'reasoning beside tools'

/** One name for all of them, where the server has only one, too. */
const PENALTIES: readonly string[] = ['frequency_penalty', 'presence_penalty', 'repetition_penalty']

/** Refusals without a name of a parameter. */
const REFUSED_BY_MESSAGE: readonly (readonly [refusal: RegExp, name: string])[] = [
  [/function tools with reasoning_effort are not supported/i, BESIDE_TOOLS],
  [/must be verified to generate reasoning summaries/i, 'reasoning.summary'],
  [/\bpenalty is not enabled for\b/i, 'penalties'],
  [
    /does not support (?:thinking|the effort parameter)|\bthinking[\w. ]{0,40}["'`]? is (?:not (?:enabled|supported)|unsupported|only enabled)|not a supported thinking level|this model only works in thinking mode/i,
    'reasoning',
  ],
]

/** Not left out either: what is too long is told elsewhere. */
const LONG_DESCRIPTIONS = /^tool descriptions beyond (\d+) characters$/

const nameOf = (word: string): string | undefined => NAMES.get(word.replace(/[^A-Za-z]/g, '').toLowerCase())

/** Notes in the error's metadata the parameter for which a request was refused with status 400 or 422, if the answer can do without it. */
export function markRefusedParameter(status: number, error: GatewayError): GatewayError {
  const form = refusedForm(status, error.message, error.details.path)
  if (form === undefined && status !== 400 && status !== 422) return error
  const limit = descriptionLimit(error.message)
  const known = form ?? REFUSED_BY_MESSAGE.find(([refusal]) => refusal.test(error.message))?.[1]
  const name = limit === undefined ? (known ?? refusedName(error)) : `tool descriptions beyond ${limit} characters`
  return name === undefined ? error : error.with({ metadata: { ...error.details.metadata, refused_parameter: name } })
}

function refusedName({ message, details: { path } }: GatewayError): string | undefined {
  const fixed = FIXED.exec(message)
  if (fixed !== null) return nameOf(fixed[1] ?? fixed[2] ?? '')
  if (!REFUSAL.test(message)) return undefined
  const fromPath = path === undefined ? undefined : nameOf(path.replace(/^body\W/, ''))
  if (fromPath !== undefined) return fromPath
  // Something else was refused, and the error names it.
  if (path !== undefined && path !== 'validation_error') return undefined
  const names: string[] = []
  for (const [, quoted, bare, after] of message.matchAll(QUOTED)) {
    const name = nameOf(quoted ?? bare ?? after ?? '')
    if (name !== undefined && !names.includes(name)) names.push(name)
  }
  return /both/i.test(message) ? names.at(-1) : names[0]
}

/** The request without these parameters (or with reasoning set to none, if that is what was refused); the same object if it has none of them. */
export function withoutParameters(request: ModelRequest, names: Iterable<string>): ModelRequest {
  const wanted = [...names]
  const limit = wanted.map((name) => LONG_DESCRIPTIONS.exec(name)?.[1]).find((found) => found !== undefined)
  const short = limit === undefined ? request : withShortDescriptions(request, Number(limit))
  const reformed = withRequestForms(short, wanted)
  const reduced: { [name: string]: unknown } = { ...reformed }
  let changed = reformed !== request
  for (const name of wanted.flatMap((each) => (each === 'penalties' ? PENALTIES : [each]))) {
    if (name === BESIDE_TOOLS) reduced['reasoning'] = { effort: 'none', stated: true }
    else if (name === 'verbosity') {
      if (request.text?.verbosity == null) continue
      const { verbosity: _, ...text } = request.text
      reduced['text'] = text
    } else if (name === 'reasoning.summary') {
      if (request.reasoning?.summary == null) continue
      const { summary: _, ...reasoning } = request.reasoning
      reduced['reasoning'] = reasoning
    } else if (request[name] == null) continue
    else delete reduced[name]
    changed = true
  }
  return changed ? (reduced as ModelRequest) : request
}
