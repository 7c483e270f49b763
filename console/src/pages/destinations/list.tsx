import { Badge, Group, Stack, Text, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import type { DestinationStatus, ObservabilityDestination } from '../../api/schema.ts'
import { ago, count, moment, NOTHING } from '../../lib/format.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Problem } from '../../ui/problem.tsx'
import { percentOf } from './body.ts'
import { healthOf } from './health.ts'
import { useNow } from './use-now.ts'

const STATUS = 'GET /api/v1/observability/destinations/{id}/status'
/** Polling interval for the delivery state of one destination, in milliseconds. */
export const STATUS_EVERY_MS = 4_000
/** With many destinations each is polled less often: an open page sends at most five requests a second. */
const STATUS_GAP_MS = 200

export interface DestinationListProps {
  readonly destinations: readonly ObservabilityDestination[]
  readonly labelOf: (type: string) => string
  /** Absent: there is only one workspace, which need not be named. */
  readonly workspaceOf: ((id: string) => string) | undefined
  readonly onOpen: (id: string) => void
  readonly empty: ReactNode
}

export function DestinationList({ destinations, labelOf, workspaceOf, onOpen, empty }: DestinationListProps): ReactNode {
  const every = Math.max(STATUS_EVERY_MS, destinations.length * STATUS_GAP_MS)
  // If the gateway is away, no state can be read: one of them, which its row reads anyway, says so for all.
  const id = destinations[0]?.id
  const { error, refetch } = useRead(STATUS, { params: { id: id ?? '' } }, { every, when: id !== undefined })
  return (
    <>
      {/* One that somebody else has just deleted says nothing about the others. */}
      <Problem error={error?.status === 404 ? null : error} onRetry={() => void refetch()} />
      <DataTable
        label="Destinations"
        rows={destinations}
        keyOf={(destination) => destination.id}
        onOpen={(destination) => onOpen(destination.id)}
        empty={empty}
        columns={columnsOf({ labelOf, workspaceOf, every })}
      />
    </>
  )
}

const figure = (header: string, every: number, of: (status: DestinationStatus) => number): Column<ObservabilityDestination> => ({
  header,
  isFigure: true,
  cell: ({ id }) => (
    <OfStatus id={id} every={every}>
      {(status) => count(of(status))}
    </OfStatus>
  ),
})

interface ColumnsOptions extends Pick<DestinationListProps, 'labelOf' | 'workspaceOf'> {
  readonly every: number
}

const columnsOf = ({ labelOf, workspaceOf, every }: ColumnsOptions): readonly Column<ObservabilityDestination>[] => [
  {
    header: 'Name',
    cell: ({ name, type }) => (
      <Stack gap={0} miw={130}>
        <Text size="sm" fw={550} style={{ wordBreak: 'break-word' }}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {labelOf(type)}
        </Text>
      </Stack>
    ),
  },
  {
    header: 'State',
    cell: ({ id }) => (
      <OfStatus id={id} every={every}>
        {(status) => <HealthBadge status={status} />}
      </OfStatus>
    ),
  },
  ...(workspaceOf === undefined ? [] : [{ header: 'Workspace', cell: ({ workspace_id: id }: ObservabilityDestination) => workspaceOf(id) }]),
  { header: 'Forwards', cell: (destination) => <Takes destination={destination} /> },
  figure('Delivered', every, ({ delivered }) => delivered),
  figure('Queued', every, ({ queued }) => queued),
  figure('Rejected', every, ({ rejected }) => rejected),
  figure('Dead', every, ({ dead }) => dead),
  {
    header: 'Last',
    cell: ({ id }) => (
      <OfStatus id={id} every={every}>
        {(status) => <Last status={status} />}
      </OfStatus>
    ),
  },
]

interface OfStatusProps {
  readonly id: string
  readonly every: number
  readonly children: (status: DestinationStatus) => ReactNode
}

/** Cells of a row share one answer, which is polled as long as the page is visible. */
function OfStatus({ id, every, children }: OfStatusProps): ReactNode {
  const { data, error } = useRead(STATUS, { params: { id } }, { every })
  if (data !== undefined) return children(data.data)
  return error === null ? '…' : NOTHING
}

export function HealthBadge({ status }: { readonly status: DestinationStatus }): ReactNode {
  const { word, colour } = healthOf(status)
  return (
    <Badge variant="light" color={colour} miw="max-content">
      {word}
    </Badge>
  )
}

/** Which calls are forwarded, and how many of them. */
function Takes({
  destination: { sampling_rate: rate, privacy_mode: isPrivate, filter_rules: rules, api_key_hashes: keys },
}: {
  readonly destination: ObservabilityDestination
}): ReactNode {
  const isFiltered = keys !== null || (rules !== null && rules.enabled !== false && rules.groups.length > 0)
  return (
    <Group gap={4}>
      <Text size="sm">{rate === 1 ? 'All' : `${percentOf(rate)} %`}</Text>
      {isFiltered && (
        <Badge size="sm" variant="default" miw="max-content">
          filtered
        </Badge>
      )}
      {isPrivate && (
        <Badge size="sm" variant="default" miw="max-content">
          private
        </Badge>
      )}
    </Group>
  )
}

/** The failure as long as it lasts, otherwise the success. */
function Last({ status }: { readonly status: DestinationStatus }): ReactNode {
  const now = useNow()
  const { isErrorCurrent } = healthOf(status)
  if (!isErrorCurrent) return <span title={moment(status.last_success_at)}>{ago(status.last_success_at, now)}</span>
  return (
    <Stack gap={0} maw={180}>
      <Text size="sm" title={moment(status.last_error_at)}>
        failed {ago(status.last_error_at, now)}
      </Text>
      <Tooltip label={status.last_error} multiline maw={420}>
        <Text size="xs" c="red" truncate>
          {status.last_error ?? `HTTP ${status.last_status ?? ''}`}
        </Text>
      </Tooltip>
    </Stack>
  )
}

/** Explains destinations to users who have none. */
export function NoDestinations({ action }: { readonly action: ReactNode }): ReactNode {
  return (
    <Stack align="center" gap="sm" py="md">
      <Text fw={600} c="var(--mantine-color-text)">
        No destinations yet
      </Text>
      <Text size="sm" maw={560}>
        A destination is an observability platform that receives every finished generation: prompt, answer, model, tokens, cost and times. Deliveries
        wait in a durable queue, are retried when the platform fails, and never delay a call.
      </Text>
      {action}
    </Stack>
  )
}
