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

/** Whether a block is a call of the server's own tools, or its result. */
export const isServerBlock = ({ type }: Block): boolean => /_tool_(?:use|result)$/.test(type)

/**
 * The blocks of each turn of the assistant that may be sent with these tools: a result without its call and calls of a tool that is not offered
 * any more are refused, and calls without their results are, but for those of a turn that is still `open`: they are run when it goes on, and
 * the result stands in the turn after it. Blocks that belong to no call (a compaction) stay.
 */
export function replayable(turns: readonly (readonly Block[])[], toolNames: ReadonlySet<string>, open: readonly Block[] | undefined): Block[][] {
  const results = new Set(turns.flatMap((blocks) => blocks.map((block) => asString(block['tool_use_id']))))
  const calls = new Set<string>()
  for (const blocks of turns) {
    for (const block of blocks) {
      const id = asString(block['id'])
      if (id === undefined || !isServerCall(block) || !(results.has(id) || blocks === open)) continue
      const name = asString(block['name']) ?? ''
      // One offered tool may call itself by several names: code execution runs shells and editors.
      if ([...toolNames].some((tool) => name === tool || name.endsWith(tool))) calls.add(id)
    }
  }
  const stays = (block: Block): boolean => {
    const id = asString(block['tool_use_id']) ?? (isServerCall(block) ? asString(block['id']) : undefined)
    return id === undefined || calls.has(id)
  }
  return turns.map((blocks) => blocks.filter(stays))
}
