import type { Generation, GenerationContent } from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'

export interface FindGenerationOptions {
  /** One look, in this process and in the database. */
  readonly look: (id: string, workspaceId: string | undefined) => Promise<Generation | undefined>
  readonly clock: Clock
  readonly sleep: (ms: number) => Promise<unknown>
}

/** Records wait up to 50 ms for their batch, and then for the database. */
const LOOKS = 3
const BETWEEN_MS = 100
/** Ids contain the time when a call began. Callers that ask for an older one have had the time to ask again themselves. */
const YOUNG_MS = 3_600_000
const BEGAN = /^gen-(\d{1,12})-/

/**
 * Finds a record. Callers ask for it right after the last byte of their answer, and may reach another process than the one that served them, while
 * the record is still on its way to the database. So a record that is absent but may exist is looked for again.
 */
export function createFindGeneration({ look, clock, sleep }: FindGenerationOptions): FindGenerationOptions['look'] {
  return async (id, workspaceId) => {
    let found = await look(id, workspaceId)
    const began = BEGAN.exec(id)?.[1]
    if (began === undefined || Math.abs(clock.now() - Number(began) * 1_000) > YOUNG_MS) return found
    for (let looks = 1; found === undefined && looks <= LOOKS; looks++) {
      await sleep(BETWEEN_MS)
      found = await look(id, workspaceId)
    }
    return found
  }
}

export interface FindContentOptions {
  readonly find: FindGenerationOptions['look']
  /** Whether this process has the record but has not written it yet. */
  readonly isPending: (id: string, workspaceId: string | undefined) => boolean
  /** Resolves when all records of this process are written, or cannot be written. */
  readonly settled: () => Promise<void>
  readonly contentOf: (id: string, workspaceId: string | undefined) => Promise<GenerationContent | undefined>
}

export interface FoundContent {
  readonly generation: Generation
  readonly content: GenerationContent | undefined
}

/** Finds a record and its content, which are written together, so waiting for one means waiting for both. */
export function createFindContent({ find, isPending, settled, contentOf }: FindContentOptions) {
  return async (id: string, workspaceId: string | undefined): Promise<FoundContent | undefined> => {
    const generation = await find(id, workspaceId)
    if (generation === undefined) return undefined
    if (isPending(id, workspaceId)) await settled()
    return { generation, content: await contentOf(id, workspaceId) }
  }
}
