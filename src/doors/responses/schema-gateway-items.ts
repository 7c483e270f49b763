import { z } from 'zod'
import { type Branch, fields, list, maybe } from './schema-combinators.ts'
import { gatewayTagged } from './schema-names.ts'
import { itemStatus, patchOperation, shellAction, shellOutput, text, texts } from './schema-shared.ts'

/** Items that the gateway's server tools leave in an answer, sent back as history. */

const common = { id: text, status: itemStatus }
const called = { ...common, call_id: text, arguments: text }
const sources = maybe(list(fields({ type: maybe(z.literal('url')), url: z.string(), title: text })))

const analysis = fields({
  consensus: texts,
  blind_spots: texts,
  contradictions: maybe(list(fields({ topic: z.string(), stances: list(fields({ model: z.string(), stance: z.string() })) }))),
  partial_coverage: maybe(list(fields({ point: z.string(), models: list(z.string()) }))),
  unique_insights: maybe(list(fields({ model: z.string(), insight: z.string() }))),
})

const WEB: readonly Branch[] = [
  gatewayTagged('web_search', { ...common, action: maybe(fields({ type: maybe(z.literal('search')), query: text, sources })) }),
  gatewayTagged('web_fetch', { ...common, url: text, title: text, content: text, error: text, httpStatus: maybe(z.int()) }),
  gatewayTagged('browser_use', { ...common, action: text, screenshotB64: text }),
]

const WORKSHOP: readonly Branch[] = [
  gatewayTagged('bash', { ...called, command: text, stdout: text, stderr: text, exitCode: maybe(z.int()) }),
  gatewayTagged('shell', { ...called, action: maybe(shellAction), output: maybe(shellOutput) }),
  gatewayTagged('code_interpreter', { ...common, code: text, language: text, stdout: text, stderr: text, exitCode: maybe(z.int()) }),
  gatewayTagged('apply_patch', { ...common, call_id: text, operation: maybe(patchOperation) }),
  gatewayTagged('text_editor', { ...common, command: maybe(z.enum(['view', 'create', 'str_replace', 'insert'])), filePath: text }),
  gatewayTagged('files', { ...called, operation: text, file_id: text, filename: text, result: text, error: text }),
]

const AGENTS: readonly Branch[] = [
  gatewayTagged('advisor', { ...common, instance_name: text, model: text, prompt: text, advice: text, error: text }),
  gatewayTagged('subagent', {
    ...common,
    call_id: text,
    name: text,
    instance_name: text,
    model: text,
    task_name: text,
    task_description: text,
    outcome: text,
    error: text,
  }),
  gatewayTagged('fusion', {
    ...common,
    analysis: maybe(analysis),
    responses: maybe(list(fields({ model: z.string(), content: text }))),
    failed_models: maybe(list(fields({ model: z.string(), error: z.string(), status_code: maybe(z.int()) }))),
    failure_reason: text,
    error: text,
    sources,
  }),
]

const REST: readonly Branch[] = [
  gatewayTagged('datetime', { ...common, datetime: text, timezone: text }),
  gatewayTagged('file_search', { ...common, queries: texts }),
  gatewayTagged('image_generation', {
    ...common,
    prompt: text,
    revisedPrompt: text,
    result: text,
    imageB64: text,
    imageUrl: text,
  }),
  gatewayTagged('tool_search', { ...common, query: text }),
  gatewayTagged('memory', { ...common, action: maybe(z.enum(['read', 'write', 'delete'])), key: text }),
  gatewayTagged('mcp', { ...common, serverLabel: text, toolName: text }),
  gatewayTagged('experimental__search_models', { ...common, query: text, arguments: text }),
]

export const GATEWAY_ITEMS: readonly Branch[] = [...WEB, ...WORKSHOP, ...AGENTS, ...REST]
