import type { Encryption } from '../core/account.ts'
import type { AnswerCache, AnswerStore, KeptAnswer } from '../core/answer-cache.ts'
import { nativesBeside, putBeside, type NativeAt } from '../core/native-citation.ts'
import { answerContext } from '../core/secret-context.ts'
import type { Clock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'

export interface AnswerCacheOptions {
  readonly store: AnswerStore
  readonly encryption: Encryption
  readonly clock: Clock
  /** Read for each use, because the operator may change it. `size` is the limit in bytes for all kept answers together. */
  readonly settings: () => { readonly enabled: boolean; readonly size: number }
  /** Called with the error when the store begins to fail, and with undefined when it works again. */
  readonly onTrouble?: (error: unknown) => void
}

/** Characters of one answer; longer ones are not kept. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024
/** A store that takes longer is slower than a possible hit is worth. */
const FIND_LIMIT_MS = 500
/** A call ends only after its answer is kept, so that an immediate repetition finds it. A write that takes longer continues in the background. */
const KEEP_LIMIT_MS = 500
/** Concurrent writes. If the store hangs, more of them would pile up in memory. */
const MAX_KEEPING = 64
/** Trimming counts all answers, so it runs at the first write and then once per this many. */
const TRIM_EVERY = 32

/** Kept answers, encrypted, in the database: all processes share them, and they survive a restart. */
export function createAnswerCache({ store, encryption, clock, settings, onTrouble = () => undefined }: AnswerCacheOptions): AnswerCache {
  let failing = false
  let keeping = 0
  let kept = 0
  const settled = (error?: unknown): void => {
    const fails = error !== undefined
    if (fails !== failing) onTrouble(error)
    failing = fails
  }
  /** Undefined if the work fails or does not finish in time. */
  const attempt = <T>(work: Promise<T>, limitMs: number): Promise<T | undefined> => {
    const done = work.then(
      (value) => {
        settled()
        return value
      },
      (error: unknown) => {
        settled(error)
        return undefined
      },
    )
    return withinLimit(done, limitMs)
  }
  const write = async (key: string, workspaceId: string, sealed: string, expiresAt: number): Promise<void> => {
    keeping++
    try {
      await store.keep({ key, workspaceId, sealed, expiresAt })
      if (kept++ % TRIM_EVERY === 0) await store.trim(clock.now(), settings().size)
    } finally {
      keeping--
    }
  }

  return {
    enabled: () => settings().enabled,
    async find(key) {
      const sealed = await attempt(store.find(key, clock.now()), FIND_LIMIT_MS)
      return sealed === undefined ? undefined : opened(encryption, key, sealed)
    },
    async keep(key, workspaceId, answer) {
      if (keeping >= MAX_KEEPING) return
      const text = JSON.stringify({ ...answer, natives: nativesBeside(answer.events) } satisfies WrittenAnswer)
      if (text.length > Math.min(MAX_ANSWER_CHARS, settings().size)) return
      await attempt(write(key, workspaceId, encryption.seal(new Secret(text), answerContext(key)), answer.expiresAt), KEEP_LIMIT_MS)
    },
  }
}

/** `natives` is absent in answers of earlier versions. */
interface WrittenAnswer extends KeptAnswer {
  readonly natives?: readonly NativeAt[]
}

/** An answer that was sealed with another secret key, or changed since, counts as absent. */
function opened(encryption: Encryption, key: string, sealed: string): KeptAnswer | undefined {
  try {
    const { natives = [], ...answer } = JSON.parse(encryption.open(sealed, answerContext(key)).reveal()) as WrittenAnswer
    putBeside(answer.events, natives)
    return answer
  } catch {
    return undefined
  }
}

async function withinLimit<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
