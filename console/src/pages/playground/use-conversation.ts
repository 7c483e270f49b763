import { useEffect, useRef, useState } from 'react'
import type { Body, Turn } from './body.ts'
import { fold, type RunEvent } from './fold.ts'
import { isOver, startRun, type Item } from './run.ts'
import { send } from './send.ts'
import { useKept } from './use-kept.ts'

/** How often the page is rendered while an answer streams: events come faster than anybody can read. */
const DRAW_MS = 40

export interface Conversation {
  readonly turns: readonly Turn[]
  readonly isBusy: boolean
  /** `isWhole`: the input also contains the whole conversation so far. */
  readonly ask: (body: Body, input: readonly Item[], isWhole: boolean) => void
  readonly stop: () => void
  readonly forget: () => void
}

/** The turns of one conversation. Leaving the page ends the request, but what has arrived is kept. */
export function useConversation(key: string, onOver: (turn: Turn) => void): Conversation {
  const [turns, change] = useKept<readonly Turn[]>('turns', [])
  const [isBusy, setBusy] = useState(false)
  const asking = useRef<AbortController>(undefined)
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
      asking.current?.abort()
    }
  }, [])

  const ask: Conversation['ask'] = (body, input, isWhole) => {
    const controller = new AbortController()
    asking.current = controller
    const id = (turns.at(-1)?.id ?? 0) + 1
    let run = startRun(performance.now())
    let isDue = false
    const draw = (): void => {
      isDue = false
      change((before) => before.map((turn) => (turn.id === id ? { ...turn, run } : turn)))
    }
    const onEvent = (happening: RunEvent): void => {
      run = fold(run, happening, performance.now())
      if (isOver(run)) draw()
      else if (!isDue) {
        isDue = true
        setTimeout(draw, DRAW_MS)
      }
    }
    change((before) => [...before, { id, input, isWhole, body, run }])
    setBusy(true)
    void send(body, { key, signal: controller.signal, onEvent }).then(() => {
      // Nothing may be kept after signing out.
      if (isLeft.current) return
      setBusy(false)
      onOver({ id, input, isWhole, body, run })
    })
  }
  return { turns, isBusy, ask, stop: () => asking.current?.abort(), forget: () => change(() => []) }
}
