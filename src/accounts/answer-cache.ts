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
  /** Read whenever it matters: the operator may change it. `size`: bytes of all kept answers together. */
  readonly settings: () => { readonly enabled: boolean; readonly size: number }
  /** Told when the store begins to fail, and, with undefined, when it is back. */
  readonly onTrouble?: (error: unknown) => void
}

/** Characters of one answer: longer ones are made again. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024
/** A store that has no answer by then is slower than hoping for one is worth. */
const FIND_LIMIT_MS = 500
/** An answer ends when it is kept, so that whoever asks again finds it; one that takes longer is kept behind its back. */
const KEEP_LIMIT_MS = 500
/** Under way at a time: a store that has stopped would have them wait in memory. */
const MAX_KEEPING = 64
/** All of them are counted at the first and each of so many. */
const TRIM_EVERY = 32

/** Kept answers, encrypted, in the database: processes share them, and they outlive a restart. */
export function createAnswerCache({ store, encryption, clock, settings, onTrouble = () => undefined }: AnswerCacheOptions): AnswerCache {
  let failing = false
  let keeping = 0
  let kept = 0
  const settled = (error?: unknown): void => {
    const fails = error !== undefined
    if (fails !== failing) onTrouble(error)
    failing = fails
  }
  /** Undefined for work that fails, or is not done in time. */
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

/** `natives`: absent in those of earlier versions. */
interface WrittenAnswer extends KeptAnswer {
  readonly natives?: readonly NativeAt[]
}

/** An answer sealed with another secret key, or tampered with, counts as absent. */
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
