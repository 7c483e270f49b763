import { Paper, Stack, Text } from '@mantine/core'
import { memo, useEffect, type ReactNode } from 'react'
import { Answer } from './answer.tsx'
import type { Body, Turn } from './body.ts'
import { Disclosure, Pre } from './disclosure.tsx'
import { readable } from './items.ts'
import { Outcome } from './outcome.tsx'
import classes from './playground.module.css'
import { isOver, type Item } from './run.ts'

export interface TranscriptProps {
  readonly turns: readonly Turn[]
  readonly onPlan: (body: Body) => void
  readonly onCode: (body: Body) => void
}

/** The page scrolls along if it is at most this near its end, in pixels. */
const NEAR_PX = 260

/** Questions and answers. */
export function Transcript({ turns, onPlan, onCode }: TranscriptProps): ReactNode {
  const last = turns.at(-1)
  useEffect(() => {
    const { scrollHeight } = document.documentElement
    const isNear = scrollHeight - window.innerHeight - window.scrollY < NEAR_PX
    if (last !== undefined && !isOver(last.run) && isNear) window.scrollTo({ top: scrollHeight })
  }, [last])
  return (
    <Stack gap="md" role="log" aria-label="Conversation">
      {turns.map((turn) => (
        <TurnShown key={turn.id} turn={turn} onPlan={onPlan} onCode={onCode} />
      ))}
    </Stack>
  )
}

interface TurnShownProps {
  readonly turn: Turn
  readonly onPlan: (body: Body) => void
  readonly onCode: (body: Body) => void
}

const TurnShown = memo(function TurnShown({ turn, onPlan, onCode }: TurnShownProps): ReactNode {
  const { input, isWhole, body, run } = turn
  return (
    <Stack gap="sm" component="section" aria-label={`Turn ${turn.id}`}>
      <Paper withBorder p="sm" bg="var(--mantine-color-default-hover)">
        {isWhole ? <Own body={body} /> : input.map((item, index) => <Asked key={`${index}-${item.type}`} item={item} />)}
      </Paper>
      <Paper withBorder p="md">
        <Stack gap="md">
          <Answer run={run} />
          <Outcome run={run} onPlan={() => onPlan(body)} onCode={() => onCode(body)} />
        </Stack>
      </Paper>
    </Stack>
  )
})

function Own({ body }: { readonly body: Body }): ReactNode {
  return (
    <Disclosure summary="JSON body">
      <Pre label="Body">{JSON.stringify(body, null, 2)}</Pre>
    </Disclosure>
  )
}

function Asked({ item }: { readonly item: Item }): ReactNode {
  if (typeof item['content'] === 'string') return <p className={classes['text']}>{item['content']}</p>
  return (
    <>
      <Text size="xs" c="dimmed">
        Result of {String(item['call_id'])}
      </Text>
      <Pre>{readable(item['output'])}</Pre>
    </>
  )
}
