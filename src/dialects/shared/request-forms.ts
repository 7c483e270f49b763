import type { RequestForm, ModelRequest } from '../../core/request.ts'

interface Form {
  readonly form: RequestForm
  /** What the endpoint refuses, as the caller is told. */
  readonly name: string
  /** How servers say it; most of these words come from models' templates. */
  readonly refusal: RegExp
}

/** How servers say that they do not know the field. */
const unknownField = (field: string): RegExp =>
  new RegExp(
    `(?:unrecogni[sz]ed|unknown|unsupported|unexpected|extra).{0,100}\\b${field}\\b|\\b${field}\\b.{0,100}(?:not (?:supported|permitted|allowed)|extra|unknown|unsupported|unexpected)`,
    'i',
  )

/** Forms of a request that only some endpoints require, and that show in their errors if another form was sent. */
const FORMS: readonly Form[] = [
  {
    form: 'alternating',
    name: 'turns of one role in a row',
    refusal: /\broles? (?:must|should) (?:alternate|be alternating)|system message must be (?:at the beginning|the first)/i,
  },
  {
    form: 'no_system_role',
    name: 'the role of the system',
    refusal:
      /\bsystem role (?:is )?not supported|developer instruction is not enabled|only user(?:,| and) assistant(?:,? and tool)? roles are supported|\.role'? does not support '(?:system|developer)'/i,
  },
  {
    form: 'reasoning_replayed',
    name: 'calls without the thoughts before them',
    refusal:
      /\b(?:reasoning_content\b|content\[\]\.thinking\b).{0,60}(?:must be passed back|is missing in assistant tool call)|missing (?:reasoning_content field|thinking block) in the assistant message/i,
  },
  { form: 'max_completion_tokens', name: 'max_tokens by that name', refusal: /\bmax_tokens\b.{0,80}\buse ['"`]?max_completion_tokens\b/i },
  { form: 'no_stream_options', name: 'stream_options', refusal: unknownField('stream_options') },
  { form: 'no_cache_control', name: 'cache_control', refusal: unknownField('cache_control') },
]

/** On some servers a template that fails looks like a crash. */
const STATUSES: readonly number[] = [400, 422, 500]

/** What a request was refused for and can be sent in another form. `path`: where, if the error says it. */
export const refusedForm = (status: number, message: string, path = ''): string | undefined =>
  STATUSES.includes(status) ? FORMS.find(({ refusal }) => refusal.test(`${path}: ${message}`))?.name : undefined

/** The request in another form, if the name of what was refused is one of these. */
export function withRequestForms(request: ModelRequest, refused: readonly string[]): ModelRequest {
  const forms = FORMS.filter(({ form, name }) => refused.includes(name) && request.request_forms?.[form] !== true)
  if (forms.length === 0) return request
  return { ...request, request_forms: { ...request.request_forms, ...Object.fromEntries(forms.map(({ form }) => [form, true])) } }
}
