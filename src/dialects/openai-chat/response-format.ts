import type { Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import {
  ANSWER_TOOL,
  answerTool,
  askForFormat,
  formatName,
  formatOf,
  isOfObjects,
  schemaInstruction,
  type FormatPlan,
  type JsonSchemaFormat,
} from '../shared/format-plan.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { curateSchema } from '../shared/curated-schema.ts'
import { hasOptionalMembers, STRICT_WITH_OPTIONAL } from '../shared/optional-members.ts'
import { strictChoices } from '../shared/strict-choices.ts'
import { forcedToolsFor, schemaModeFor, type OpenAiChatOptions } from './options.ts'

type ChatTarget = Pick<Target<OpenAiChatOptions>, 'options' | 'upstreamModel' | 'supports'>

/** Where the schema goes: natively, as a JSON object with the schema in the prompt, as a forced tool, or only in the prompt. */
export function planFormat(request: ModelRequest, target: ChatTarget): FormatPlan {
  const format = formatOf(request)
  if (format == null || format.type === 'text') return {}
  const { supports, options } = target
  if (format.type === 'json_object') {
    if (!yieldsToTools(request, target) && (supports.has('response_format') || supports.has('structured_outputs')))
      return { native: options.json_object === 'schema' ? ANY_OBJECT : { type: 'json_object' }, ...jsonWord(request) }
    return askForFormat(format)
  }
  switch (schemaMode(request, target, format)) {
    case 'native':
      return nativeSchema(format, target)
    case 'json-object':
      return {
        native: options.json_object === 'schema' ? ANY_OBJECT : { type: 'json_object' },
        instruction: schemaInstruction(format),
        note: 'text.format: schema asked for in the prompt',
      }
    case 'tool':
      return { answerTool: answerTool(format) }
    case 'prompt':
      return askForFormat(format)
  }
}

const ANY_OBJECT: JsonObject = { type: 'json_schema', json_schema: { name: 'object', schema: { type: 'object' } } }

/** The tool whose call contains the answer to this request, if there is one. */
export function answerToolName(request: ModelRequest, target: ChatTarget): string | undefined {
  const format = formatOf(request)
  return format?.type === 'json_schema' && schemaMode(request, target, format) === 'tool' ? ANSWER_TOOL : undefined
}

/** Whether tools prevent a response format here. */
function yieldsToTools({ tools, tool_choice: choice }: ModelRequest, { options, supports }: ChatTarget): boolean {
  return !options.formats_with_tools && tools !== undefined && tools.length > 0 && supports.has('tools') && choice !== 'none'
}

function schemaMode(request: ModelRequest, target: ChatTarget, format: JsonSchemaFormat): 'native' | 'json-object' | 'tool' | 'prompt' {
  const written = schemaModeFor(target)
  // Only a forced call is certain.
  if (written === 'tool' ? forcedToolsFor(target) === 'never' : yieldsToTools(request, target)) return 'prompt'
  const { supports } = target
  const mode =
    written !== 'auto' ? written : supports.has('structured_outputs') ? 'native' : supports.has('response_format') ? 'json-object' : 'prompt'
  return mode === 'native' || isOfObjects(format) ? mode : 'prompt'
}

function nativeSchema(format: JsonSchemaFormat, { options }: ChatTarget): FormatPlan {
  const mayLeaveOut = options.optional_members === 'refused' && format.strict === true && hasOptionalMembers(format.schema)
  const strict = mayLeaveOut ? false : format.strict
  const unwrapped = strict === true ? strictChoices(format.schema) : format.schema
  const schema = {
    name: formatName(format),
    ...(format.description == null ? {} : { description: format.description }),
    schema: options.schemas === 'curated' ? curateSchema(unwrapped, new Unfolding()) : unwrapped,
    ...(strict == null ? {} : { strict }),
  }
  return { native: { type: 'json_schema', json_schema: schema }, ...(mayLeaveOut ? { note: `text.format: ${STRICT_WITH_OPTIONAL}` } : {}) }
}

/** Fields that are not words of the prompt: a long blob may contain those four letters by chance, and a file in its type. */
const WORDLESS: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'name',
  'arguments',
  'image_url',
  'video_url',
  'input_audio',
  'file_data',
  'file_url',
  'filename',
  'encrypted_content',
  'signature',
  'result',
])

/** Servers refuse `json_object` if the word JSON occurs nowhere in the prompt. */
function jsonWord({ instructions, input }: ModelRequest): { instruction?: string } {
  const words = JSON.stringify(input, (key, value: unknown) => (WORDLESS.has(key) ? undefined : value))
  return /json/i.test(`${instructions ?? ''} ${words}`) ? {} : { instruction: 'Answer with one JSON object.' }
}
