import { createAnswerCache, type AnswerCacheOptions } from '../accounts/answer-cache.ts'
import type { AnswerCache } from '../core/answer-cache.ts'
import { systemClock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Boot } from './boot.ts'

/** The answer cache of this installation. */
export function openAnswers({ store, encryption }: Boot, settings: AnswerCacheOptions['settings'], logger: Logger): AnswerCache {
  return createAnswerCache({
    store: store.answers,
    encryption,
    clock: systemClock,
    settings,
    onTrouble: (error) => {
      if (error === undefined) logger.info({}, 'answers are kept again')
      else logger.warn({ error }, 'answers cannot be kept or found at the moment: models are asked')
    },
  })
}
