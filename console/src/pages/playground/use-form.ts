import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { EMPTY, type Settings } from './body.ts'
import { useKept } from './use-kept.ts'

export interface Form {
  readonly settings: Settings
  readonly change: (change: Partial<Settings>) => void
  /** Puts the model into the address, where it can be shared. */
  readonly settleModel: (model: string) => void
  /** Somebody wanted to send it: what is missing is said from then on. */
  readonly isTried: boolean
  readonly setTried: (isTried: boolean) => void
}

/** The settings of what is sent next; `?model=` of the address chooses the model. */
export function useForm(): Form {
  const [search, setSearch] = useSearchParams()
  const [kept, keep] = useKept<Settings>('settings', EMPTY)
  const [isTried, setTried] = useState(false)
  // The address is asked once: whoever follows a link wants its model.
  const [asked, setAsked] = useState(() => search.get('model'))
  const settings = asked === null ? kept : { ...kept, model: asked }
  return {
    settings,
    change: (next) => {
      keep((before) => ({ ...before, ...(asked === null ? {} : { model: asked }), ...next }))
      setAsked(null)
    },
    settleModel: (model) => {
      if (model === (search.get('model') ?? '')) return
      setSearch(model === '' ? {} : { model }, { replace: true })
    },
    isTried,
    setTried,
  }
}
