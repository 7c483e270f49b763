import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiKey } from '../../api/schema.ts'
import { minute, moment, usd } from '../../lib/format.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { LimitBar } from './limit-bar.tsx'
import { ratesOfKey } from './list.ts'
import { StateBadge } from './state-badge.tsx'

export interface KeyTableProps {
  readonly keys: readonly ApiKey[]
  readonly empty: ReactNode
  readonly onOpen: (key: ApiKey) => void
}

export function KeyTable({ keys, empty, onOpen }: KeyTableProps): ReactNode {
  return <DataTable label="Inference keys" rows={keys} keyOf={({ hash }) => hash} onOpen={onOpen} empty={empty} columns={COLUMNS} />
}

const Dim = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
    {children}
  </Text>
)

function Rates({ of: key }: { readonly of: ApiKey }): ReactNode {
  const rates = ratesOfKey(key)
  return rates.length === 0 ? <Dim>no limit</Dim> : rates.map((rate) => <Dim key={rate}>{rate}</Dim>)
}

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    header: 'Name',
    cell: ({ name, label }) => (
      <Stack gap={0}>
        <Text size="sm" fw={500} style={{ wordBreak: 'break-word' }} miw={140}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {label}
        </Text>
      </Stack>
    ),
  },
  { header: 'State', cell: (key) => <StateBadge of={key} /> },
  { header: 'Today', cell: ({ usage_daily: spent }) => usd(spent), isFigure: true },
  { header: 'Week', cell: ({ usage_weekly: spent }) => usd(spent), isFigure: true },
  { header: 'Month', cell: ({ usage_monthly: spent }) => usd(spent), isFigure: true },
  { header: 'Total', cell: ({ usage: spent }) => usd(spent), isFigure: true },
  { header: 'Limit', cell: (key) => <LimitBar of={key} /> },
  { header: 'Rates', cell: (key) => <Rates of={key} /> },
  { header: 'Last used', cell: ({ last_used_at: used }) => <Dim>{used === null ? 'never' : minute(used)}</Dim> },
  { header: 'Expires', cell: ({ expires_at: expires }) => <Dim>{expires === null ? 'never' : moment(expires)}</Dim> },
]
