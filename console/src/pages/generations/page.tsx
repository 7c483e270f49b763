import { Alert, Box, Button, Center, Loader, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { GenerationSummary } from '../../api/schema.ts'
import { count, duration, moment, NOTHING } from '../../lib/format.ts'
import { useAddress } from '../../ui/address.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { costOf } from './cost.ts'
import { Detail } from './detail.tsx'
import { FilterBar } from './filter-bar.tsx'
import { filtersOf, NO_FILTERS } from './filters.ts'
import { StatusBadge } from './status.tsx'
import { useGenerations } from './use-generations.ts'

const COLUMNS: readonly Column<GenerationSummary>[] = [
  {
    header: 'Time',
    cell: ({ created_at }) => (
      <Text span size="xs" style={{ whiteSpace: 'nowrap' }}>
        {moment(created_at)}
      </Text>
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Model', cell: (row) => <Model of={row} /> },
  { header: 'Provider', cell: ({ provider_name }) => <Text size="xs">{provider_name ?? NOTHING}</Text> },
  {
    header: 'Key',
    cell: ({ api_key_name }) => (
      <Text size="xs" style={{ overflowWrap: 'anywhere' }} miw={130}>
        {api_key_name}
      </Text>
    ),
  },
  { header: 'In', cell: ({ tokens_prompt }) => count(tokens_prompt), isFigure: true },
  { header: 'Out', cell: ({ tokens_completion }) => count(tokens_completion), isFigure: true },
  { header: 'Cost', cell: costOf, isFigure: true },
  { header: 'First token', cell: ({ latency }) => duration(latency), isFigure: true },
  { header: 'Duration', cell: ({ generation_time }) => duration(generation_time), isFigure: true },
  { header: 'Tries', cell: ({ attempts }) => attempts, isFigure: true },
]

/** The model that served, and the requested one if it differs. */
function Model({ of: { model, requested_model, error_type } }: { readonly of: GenerationSummary }): ReactNode {
  return (
    <Box miw={140} style={{ wordBreak: 'break-word' }}>
      <Text span size="sm">
        {model ?? requested_model}
      </Text>
      {model !== null && model !== requested_model && (
        <Text size="xs" c="dimmed">
          requested {requested_model}
        </Text>
      )}
      {error_type !== null && (
        <Text size="xs" c="red">
          {error_type}
        </Text>
      )}
    </Box>
  )
}

export default function GenerationsPage(): ReactNode {
  const { get, set } = useAddress()
  const [isLive, setLive] = useState(true)
  const filters = filtersOf(get)
  const found = useGenerations(filters, isLive)
  const id = get('id')
  const onLive = (live: boolean): void => {
    setLive(live)
    if (live) found.goBack()
  }
  return (
    <Page title="Generations" about="Records of all calls: what was requested, which provider served it, how long it took and what it cost.">
      <FilterBar
        filters={filters}
        onChange={set}
        onClear={() => set(NO_FILTERS)}
        isLive={isLive}
        isPaused={found.isPaused}
        onLive={onLive}
        onId={(wanted) => set({ id: wanted }, 'push')}
      />
      <Problem error={found.error} onRetry={found.again} />
      {found.isLoading ? (
        <Center component="output" h={120} aria-label="Loading">
          <Loader />
        </Center>
      ) : (
        found.isRead && <Found of={found} isFiltered={Object.keys(filters).length > 0} onOpen={(row) => set({ id: row.id }, 'push')} />
      )}
      <Detail id={id} onClose={() => set({ id: undefined })} />
    </Page>
  )
}

interface FoundProps {
  readonly of: ReturnType<typeof useGenerations>
  readonly isFiltered: boolean
  readonly onOpen: (row: GenerationSummary) => void
}

function Found({ of: { rows, more, isLooking, isOfBefore }, isFiltered, onOpen }: FoundProps): ReactNode {
  const nothing = isFiltered
    ? 'No calls match these filters.'
    : 'No calls yet. Make one in the Playground, or with the curl command that the gateway printed when it started.'
  return (
    <Stack opacity={isOfBefore ? 0.5 : 1} aria-busy={isOfBefore}>
      {rows.length === 0 && more !== undefined ? (
        <Alert color="gray">{isLooking ? 'Searching older records …' : 'Nothing found so far. There are older records.'}</Alert>
      ) : (
        <DataTable label="Generations" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} onOpen={onOpen} empty={nothing} />
      )}
      {more !== undefined && (
        <Center>
          <Button variant="default" size="xs" loading={isLooking} onClick={more}>
            Older
          </Button>
        </Center>
      )}
    </Stack>
  )
}
