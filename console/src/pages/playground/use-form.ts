import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { EMPTY, type Settings } from './body.ts'
import { useKept } from './use-kept.ts'

export interface Form {
  readonly settings: Settings
  readonly change: (change: Partial<Settings>) => void
  /** Puts the model into the URL, so that it can be shared. */
  readonly settleModel: (model: string) => void
  /** The user has tried to send, so missing values are shown from now on. */
  readonly isTried: boolean
  readonly setTried: (isTried: boolean) => void
}

/** The settings for the next request; `?model=` in the URL chooses the model. */
export function useForm(): Form {
  const [search, setSearch] = useSearchParams()
  const [stored, keep] = useKept<Settings>('settings', EMPTY)
  const [isTried, setTried] = useState(false)
  // The URL is only read once: a user who follows a link wants its model.
  const [linkedModel, setLinkedModel] = useState(() => search.get('model'))
  const settings = linkedModel === null ? stored : { ...stored, model: linkedModel }
  return {
    settings,
    change: (next) => {
      keep((before) => ({ ...before, ...(linkedModel === null ? {} : { model: linkedModel }), ...next }))
      setLinkedModel(null)
    },
    settleModel: (model) => {
      if (model === (search.get('model') ?? '')) return
      setSearch(model === '' ? {} : { model }, { replace: true })
    },
    isTried,
    setTried,
  }
}
