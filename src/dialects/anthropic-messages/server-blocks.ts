import type { OtherItem } from '../../core/item.ts'
import { openReasoning, sealReasoning } from '../../core/reasoning-envelope.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { asString, isObject } from '../shared/json.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import type { Block } from './content.ts'
import type { MessagesTarget } from './options.ts'

/**
 * Blocks of tools that the upstream runs itself, and blocks of unknown kinds, are stored in the envelope of an item. They go back unchanged, and only
 * to the party that wrote them, for which their results are encrypted.
 */
export function sealBlocks(blocks: readonly unknown[], target: MessagesTarget): string {
  return sealReasoning({ format: target.options.reasoning_format, scope: target.scope, data: JSON.stringify(blocks) })
}

/** The blocks in the data of an envelope; undefined if it contains something else (a redacted thought). */
function parseBlocks(data: string | undefined): Block[] | undefined {
  if (data?.startsWith('[') !== true) return undefined
  const blocks = parseExact(data)
  return Array.isArray(blocks) ? blocks.filter((block): block is Block => isObject(block) && typeof block['type'] === 'string') : undefined
}

export const holdsBlocks = (part: ReasoningPart): boolean => part.data?.startsWith('[') === true

export function blocksOfReasoning(part: ReasoningPart): readonly Block[] {
  return parseBlocks(part.data) ?? []
}

/** The blocks in the item of a built-in tool; undefined if they are lost or belong to another party. */
export function blocksOfItem(item: OtherItem, target: MessagesTarget): readonly Block[] | undefined {
  const envelope = openReasoning(asString(item['encrypted_content']))
  if (envelope === undefined || envelope.scope !== target.scope || envelope.format !== target.options.reasoning_format) return undefined
  return parseBlocks(envelope.data)
}

const isServerCall = ({ type }: Block): boolean => type.endsWith('_tool_use')

/** Whether a block is a call of the server's own tools, or its result. */
export const isServerBlock = ({ type }: Block): boolean => /_tool_(?:use|result)$/.test(type)

/**
 * The blocks of each assistant turn that may be sent with these tools. The server refuses a result without its call, a call of a tool that is no
 * longer offered, and a call without a result. The exception is a turn that is still `open`: its calls are run when it continues, and the results are
 * in the turn after it. Blocks that belong to no call (a compaction) stay.
 */
export function replayable(turns: readonly (readonly Block[])[], toolNames: ReadonlySet<string>, open: readonly Block[] | undefined): Block[][] {
  const results = new Set(turns.flatMap((blocks) => blocks.map((block) => asString(block['tool_use_id']))))
  const calls = new Set<string>()
  const isOffered = endsInOne(toolNames)
  for (const blocks of turns) {
    for (const block of blocks) {
      const id = asString(block['id'])
      if (id === undefined || !isServerCall(block) || !(results.has(id) || blocks === open)) continue
      if (isOffered(asString(block['name']) ?? '')) calls.add(id)
    }
  }
  const stays = (block: Block): boolean => {
    const id = asString(block['tool_use_id']) ?? (isServerCall(block) ? asString(block['id']) : undefined)
    return id === undefined || calls.has(id)
  }
  return turns.map((blocks) => blocks.filter(stays))
}

/** Servers accept no longer one. */
const LONGEST_NAME = 256

/**
 * Whether a name ends in that of a tool: one offered tool may make calls under several names, as code execution runs shells and editors. The ends of the
 * name are looked up, because a request may offer tens of thousands of tools.
 */
function endsInOne(toolNames: ReadonlySet<string>): (name: string) => boolean {
  let longest = 0
  for (const tool of toolNames) longest = Math.min(LONGEST_NAME, Math.max(longest, tool.length))
  return (name) => {
    for (let start = Math.max(0, name.length - longest); start < name.length; start++) if (toolNames.has(name.slice(start))) return true
    return toolNames.has(name)
  }
}
