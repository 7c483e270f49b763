import { Anchor, Box, Button, Group, Progress, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { count, percent, usd } from '../../lib/format.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { METRICS, type Grouping, type Metric, type Ranked } from './activity.ts'

export interface RankingProps {
  readonly ranked: readonly Ranked[]
  readonly by: Grouping
  readonly metric: Metric
  /** Whether there is a column for the cost of own provider keys. */
  readonly hasOwnKeys: boolean
}

const MOST = 12

/** Models or providers with their shares of what the chart shows. */
export function Ranking({ ranked, by, metric, hasOwnKeys }: RankingProps): ReactNode {
  const [all, setAll] = useState(false)
  return (
    <>
      <DataTable
        label={by === 'model' ? 'Models by share' : 'Providers by share'}
        rows={all ? ranked : ranked.slice(0, MOST)}
        keyOf={({ name }) => name}
        empty="No calls."
        columns={columnsOf(by, metric, hasOwnKeys)}
      />
      {ranked.length > MOST && (
        <Group justify="center">
          <Button size="xs" variant="subtle" onClick={() => setAll(!all)}>
            {all ? `Show the first ${MOST}` : `Show all ${count(ranked.length)}`}
          </Button>
        </Group>
      )}
    </>
  )
}

/** The columns for one model or provider. */
function columnsOf(by: Grouping, metric: Metric, hasOwnKeys: boolean): readonly Column<Ranked>[] {
  const { noun } = METRICS[metric]
  return [
    { header: by === 'model' ? 'Model' : 'Provider', cell: by === 'model' ? modelLink : ({ name }) => name },
    { header: `Share of ${noun}`, cell: shareBar },
    { header: 'Calls', cell: ({ totals }) => count(totals.calls), isFigure: true },
    { header: METRICS.spent.label, cell: ({ totals }) => usd(totals.spent), isFigure: true },
    ...(hasOwnKeys ? [{ header: METRICS.own_keys.label, cell: ({ totals }: Ranked) => usd(totals.ownKeys), isFigure: true }] : []),
    { header: 'Tokens in', cell: ({ totals }) => count(totals.tokensIn), isFigure: true },
    { header: 'Tokens out', cell: ({ totals }) => count(totals.tokensOut), isFigure: true },
  ]
}

function modelLink({ name }: Ranked): ReactNode {
  return (
    <Anchor component={Link} href={`/models?model=${encodeURIComponent(name)}`} size="sm">
      {name}
    </Anchor>
  )
}

function shareBar({ share }: Ranked): ReactNode {
  return (
    <Group gap="xs" wrap="nowrap">
      <Box w={90} visibleFrom="xs">
        <Progress value={(share ?? 0) * 100} size="sm" aria-hidden />
      </Box>
      <Text size="sm" style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
        {percent(share)}
      </Text>
    </Group>
  )
}
