import { Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { count, percent, short, usd } from '../../lib/format.ts'
import type { Totals } from './activity.ts'
import { changeShown, compare } from './comparison.ts'

export interface FiguresProps {
  /** The last one is today. */
  readonly days: readonly Totals[]
}

/** Today and the last days, each compared with what was usual before. */
export function Figures({ days }: FiguresProps): ReactNode {
  const own = compare(days, ({ ownKeys }) => ownKeys)
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
      <Figure label="Calls" days={days} of={({ calls }) => calls} shown={brief} />
      <Figure
        label="USD spent"
        days={days}
        of={({ spent }) => spent}
        shown={usd}
        note={own.all > 0 ? `Own provider keys, by list price: ${usd(own.today)} today, ${usd(own.all)} in all` : undefined}
      />
      <Figure label="Tokens in" days={days} of={({ tokensIn }) => tokensIn} shown={brief} />
      <Figure label="Tokens out" days={days} of={({ tokensOut }) => tokensOut} shown={brief} />
    </SimpleGrid>
  )
}

const GROUPED_UP_TO = 99_999
const brief = (value: number): string => (value > GROUPED_UP_TO ? short(value) : count(value))

interface FigureProps extends FiguresProps {
  readonly label: string
  readonly of: (totals: Totals) => number
  readonly shown: (value: number) => string
  readonly note?: string | undefined
}

function Figure({ label, days, of, shown, note }: FigureProps): ReactNode {
  const { today, all, ofUsualDay, weekChange } = compare(days, of)
  return (
    <Paper withBorder p="sm" component="section" aria-label={label}>
      <Text size="xs" c="dimmed" fw={500} mb={4}>
        {label}
      </Text>
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
        <Span name="today" value={shown(today)} about={ofUsualDay === undefined ? undefined : `${percent(ofUsualDay)} of usual`} />
        <Span
          name={`${days.length} days`}
          value={shown(all)}
          about={weekChange === undefined ? undefined : `${changeShown(weekChange)} in 7 days`}
          isRight
        />
      </Group>
      {note !== undefined && (
        <Text size="xs" mt={6}>
          {note}
        </Text>
      )}
    </Paper>
  )
}

interface SpanProps {
  readonly name: string
  readonly value: string
  readonly about: string | undefined
  readonly isRight?: boolean
}

function Span({ name, value, about, isRight = false }: SpanProps): ReactNode {
  return (
    <Stack gap={0} miw={0} ta={isRight ? 'right' : 'left'}>
      <Text fz={isRight ? 'lg' : 'xl'} fw={isRight ? 500 : 650} lh="30px" style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
        {value}
      </Text>
      <Text size="xs">{name}</Text>
      <Text size="xs" c="dimmed" mih="1.5em">
        {about}
      </Text>
    </Stack>
  )
}
