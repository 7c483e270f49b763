import type { OtherItem } from '../../core/item.ts'
import { openReasoning, sealReasoning } from '../../core/reasoning-envelope.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { asString, isObject } from '../shared/json.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import type { Block } from './content.ts'
import type { MessagesTarget } from './options.ts'

/**
 * Blocks of tools the upstream runs itself, and of kinds not known here, travel in the envelope of an item and come back as they were,
 * to the party that wrote them only: their results are encrypted for it.
 */
export function sealBlocks(blocks: readonly unknown[], target: MessagesTarget): string {
  return sealReasoning({ format: target.options.reasoning_format, scope: target.scope, data: JSON.stringify(blocks) })
}

/** The blocks in the data of an envelope; undefined when it holds something else (a redacted thought). */
function parseBlocks(data: string | undefined): Block[] | undefined {
  if (data?.startsWith('[') !== true) return undefined
  const blocks = parseExact(data)
  return Array.isArray(blocks) ? blocks.filter((block): block is Block => isObject(block) && typeof block['type'] === 'string') : undefined
}

export const holdsBlocks = (part: ReasoningPart): boolean => part.data?.startsWith('[') === true

export function blocksOfReasoning(part: ReasoningPart): readonly Block[] {
  return parseBlocks(part.data) ?? []
}

/** The blocks an item of a built-in tool brought along; undefined when they are lost or another party's. */
export function blocksOfItem(item: OtherItem, target: MessagesTarget): readonly Block[] | undefined {
  const envelope = openReasoning(asString(item['encrypted_content']))
  if (envelope === undefined || envelope.scope !== target.scope || envelope.format !== target.options.reasoning_format) return undefined
  return parseBlocks(envelope.data)
}

const isServerCall = ({ type }: Block): boolean => type.endsWith('_tool_use')

/**
 * The blocks that may be sent with these tools: a call without its result or the reverse, and calls of a tool that is not offered any
 * more, are refused. Blocks that belong to no call (a compaction) stay.
 */
export function replayable(blocks: readonly Block[], toolNames: ReadonlySet<string>): Block[] {
  const results = new Set(blocks.map((block) => asString(block['tool_use_id'])))
  const calls = new Map<string, boolean>()
  for (const block of blocks) {
    const id = asString(block['id'])
    if (id === undefined || !isServerCall(block)) continue
    const name = asString(block['name']) ?? ''
    // One offered tool may call itself by several names: code execution runs shells and editors.
    calls.set(id, results.has(id) && [...toolNames].some((tool) => name === tool || name.endsWith(tool)))
  }
  return blocks.filter((block) => {
    const id = asString(block['tool_use_id']) ?? (isServerCall(block) ? asString(block['id']) : undefined)
    return id === undefined || calls.get(id) === true
  })
}
