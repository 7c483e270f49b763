import { z } from 'zod'
import type { JsonObject } from '../../core/item.ts'
import { type Branch, list, maybe, tagged } from '../responses/schema-combinators.ts'
import { WEB_SEARCH_PARAMETERS } from '../responses/schema-gateway-tools.ts'
import { anyObject, cacheControl, flag, positive, userLocation } from '../responses/schema-shared.ts'
import { withValues } from '../shared/check-body.ts'

/** Tools that callers name by a type of the format's vendor, translated so that any model can be offered them. */

interface CallersTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
}

const string = { type: 'string' }
const BASH: CallersTool = {
  name: 'bash',
  description: 'Runs a command in a shell that keeps its state between calls, and returns what it printed.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...string, description: 'The command.' },
      restart: { type: 'boolean', description: 'Begins with a new shell instead.' },
    },
  },
}
const editor = (name: string, commands: readonly string[]): CallersTool => ({
  name,
  description: 'Shows, makes and changes files.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...string, enum: commands },
      path: { ...string, description: 'The file or folder, from the root.' },
      file_text: { ...string, description: 'All of a new file (create).' },
      old_str: { ...string, description: 'What stands there once, to the letter (str_replace).' },
      new_str: { ...string, description: 'What is to stand there (str_replace, insert).' },
      insert_line: { type: 'integer', description: 'Behind which line (insert).' },
      insert_text: { ...string, description: 'What is put in (insert).' },
      view_range: { type: 'array', items: { type: 'integer' }, description: 'The first and the last line to show (view).' },
    },
    required: ['command', 'path'],
  },
})
const EDITS = ['view', 'create', 'str_replace', 'insert']

const MEMORY: CallersTool = {
  name: 'memory',
  description:
    'Keeps files below /memories from one conversation to the next. View /memories before you begin a task, and write down there what will be needed later: what was found out, decided and done so far.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...string, enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      path: { ...string, description: 'The file or folder, below /memories (all but rename).' },
      view_range: { type: 'array', items: { type: 'integer' }, description: 'The first and the last line to show (view).' },
      file_text: { ...string, description: 'All of the file, which replaces an older one (create).' },
      old_str: { ...string, description: 'What stands there once, to the letter (str_replace).' },
      new_str: { ...string, description: 'What is to stand there (str_replace).' },
      insert_line: { type: 'integer', description: 'Behind which line, 0 for the beginning (insert).' },
      insert_text: { ...string, description: 'What is put in (insert).' },
      old_path: { ...string, description: 'The present name (rename).' },
      new_path: { ...string, description: 'The new name (rename).' },
    },
    required: ['command'],
  },
}

/** Tools that the caller runs. The caller knows the shape of such calls, so the model can be offered an ordinary function. */
const BY_THE_CALLER: ReadonlyMap<string, CallersTool> = new Map([
  ['bash_20241022', BASH],
  ['bash_20250124', BASH],
  ['memory_20250818', MEMORY],
  ['text_editor_20241022', editor('str_replace_editor', [...EDITS, 'undo_edit'])],
  ['text_editor_20250124', editor('str_replace_editor', [...EDITS, 'undo_edit'])],
  ['text_editor_20250429', editor('str_replace_based_edit_tool', EDITS)],
  ['text_editor_20250728', editor('str_replace_based_edit_tool', EDITS)],
])
const SEARCHES = ['web_search_20250305', 'web_search_20260209', 'web_search_20260318']
const FETCHES = ['web_fetch_20250910', 'web_fetch_20260209', 'web_fetch_20260309', 'web_fetch_20260318']
/** Search by patterns or by words: the gateway's own search replaces both, and tells models that it accepts patterns. */
const TOOL_SEARCHES: ReadonlyMap<string, string> = new Map(
  ['tool_search_tool_regex', 'tool_search_tool_bm25'].flatMap((name) => [name, `${name}_20251119`].map((type) => [type, name] as const)),
)
const ADVISOR = 'advisor_20260301'

/** What any tool may have that the caller runs. */
export const SAID_OF_CALLS = {
  defer_loading: flag,
  eager_input_streaming: flag,
  input_examples: maybe(list(anyObject)).describe('Sample arguments. For vendors without such a field they are added to the description.'),
  cache_control: maybe(cacheControl).describe('The cached part of the prompt ends with this tool.'),
}

const domains = WEB_SEARCH_PARAMETERS['allowed_domains']!

export const NATIVE_TOOLS: readonly Branch[] = [
  ...SEARCHES.map((type) =>
    tagged(type, {
      name: z.literal('web_search'),
      allowed_domains: domains,
      blocked_domains: domains,
      max_uses: positive,
      user_location: userLocation,
    }),
  ),
  ...FETCHES.map((type) =>
    tagged(type, {
      name: z.literal('web_fetch'),
      allowed_domains: domains,
      blocked_domains: domains,
      max_uses: positive,
      max_content_tokens: positive,
    }),
  ),
  ...[...TOOL_SEARCHES].map(([type, name]) => tagged(type, { name: z.literal(name) })),
  tagged(ADVISOR, { name: z.literal('advisor'), model: z.string().min(1) }),
  ...[...BY_THE_CALLER].map(([type, { name }]) => tagged(type, { name: z.literal(name), ...SAID_OF_CALLS })),
]

export const searchesTools = ({ type }: JsonObject): boolean => String(type).endsWith(':tool_search') || TOOL_SEARCHES.has(type as string)

/** The tool in the terms of Responses; undefined for a tool of any other type. */
export function nativeTool(tool: JsonObject): JsonObject | undefined {
  const type = tool['type'] as string
  const callers = BY_THE_CALLER.get(type)
  if (callers !== undefined) return { type: 'function', ...callers, strict: false }
  if (type === ADVISOR) return { type: 'gateway:advisor', parameters: { model: tool['model'] } }
  if (TOOL_SEARCHES.has(type)) return { type: 'gateway:tool_search' }
  const { allowed_domains, blocked_domains, max_uses, max_content_tokens, user_location } = tool
  if (FETCHES.includes(type)) return withParameters('gateway:web_fetch', { allowed_domains, blocked_domains, max_uses, max_content_tokens })
  if (!SEARCHES.includes(type)) return undefined
  return withParameters('gateway:web_search', { allowed_domains, excluded_domains: blocked_domains, max_uses, user_location })
}

function withParameters(type: string, fields: JsonObject): JsonObject {
  const parameters = withValues(fields)
  return { type, ...(Object.keys(parameters).length === 0 ? {} : { parameters }) }
}
