import { Button, Group, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { count } from '../lib/format.ts'

/** Rows drawn at a time: there may be thousands, and a browser takes long to draw them all, again with every change of the page. */
const DRAWN = 100

export interface DrawnRowsProps<Row> {
  readonly of: readonly Row[]
  /** What they are called: `keys`. */
  readonly name: string
  /** Undefined if all are loaded, or will be by themselves. */
  readonly further?: { readonly loaded: number; readonly isReading: boolean; readonly more: () => void } | undefined
  readonly children: (rows: readonly Row[]) => ReactNode
}

/** The first of the rows, and a button for more of them, loaded or not. */
export function DrawnRows<Row>({ of: rows, name, further, children }: DrawnRowsProps<Row>): ReactNode {
  const [drawn, setDrawn] = useState(DRAWN)
  const isCut = rows.length > drawn
  const showMore = (): void => {
    setDrawn(drawn + DRAWN)
    if (!isCut) further?.more()
  }
  return (
    <>
      {children(rows.slice(0, drawn))}
      {(isCut || further !== undefined) && (
        <Group justify="center" gap="sm">
          <Text size="sm" c="dimmed">
            {isCut ? `The first ${count(drawn)} of ${count(rows.length)}.` : `${count(further?.loaded)} ${name} loaded.`}
          </Text>
          <Button size="xs" variant="default" loading={!isCut && further?.isReading} onClick={showMore}>
            Show more
          </Button>
        </Group>
      )}
    </>
  )
}
