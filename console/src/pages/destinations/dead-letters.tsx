import { Button, Checkbox, Code, Group, Pagination, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange, useRead } from '../../api/hooks.ts'
import type { DeadLetter } from '../../api/schema.ts'
import { count, moment } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Problem } from '../../ui/problem.tsx'
import { selectLetters } from './letter-selection.ts'
import { STATUS_EVERY_MS } from './list.tsx'

const LETTERS = 'GET /api/v1/observability/destinations/{id}/dead-letters'
const STATUS = 'GET /api/v1/observability/destinations/{id}/status'
const PAGE = 50

/** Records that could not be delivered: they can be queued again or deleted, all of them or a selection. */
export function DeadLetters({ id }: { readonly id: string }): ReactNode {
  const [page, setPage] = useState(1)
  const [wanted, setWanted] = useState<ReadonlySet<string>>(new Set())
  const letters = useRead(LETTERS, { params: { id }, query: { limit: PAGE, offset: (page - 1) * PAGE } }, { every: STATUS_EVERY_MS })
  const replay = useChange('POST /api/v1/observability/destinations/{id}/dead-letters/replay', [LETTERS, STATUS])
  const purge = useChange('POST /api/v1/observability/destinations/{id}/dead-letters/purge', [LETTERS, STATUS])
  const listed = (letters.data?.data ?? []).map((letter) => letter.id)
  const { chosen, body, label } = selectLetters(wanted, listed)
  const carriedOut = (): void => setWanted(new Set())
  const turn = (to: number): void => {
    setPage(to)
    setWanted(new Set())
  }
  // The entries of the last page were replayed or deleted, so the page before is now the last.
  const last = Math.max(1, Math.ceil((letters.data?.total_count ?? 0) / PAGE))
  if (letters.data !== undefined && !letters.isPlaceholderData && page > last) turn(last)
  return (
    <Loaded of={letters}>
      {({ data, total_count: total }) => (
        <Stack>
          <Problem error={replay.error} />
          {replay.data !== undefined && (
            <Text size="sm" component="output">
              {count(replay.data.replayed)} queued for delivery.
            </Text>
          )}
          {total > 0 && (
            <Group justify="space-between">
              <Checkbox
                label={total > data.length ? 'Select all on this page' : 'Select all'}
                checked={chosen.length === data.length && data.length > 0}
                indeterminate={chosen.length > 0 && chosen.length < data.length}
                onChange={({ currentTarget }) => setWanted(new Set(currentTarget.checked ? data.map((letter) => letter.id) : []))}
              />
              <Group gap="xs">
                <Button
                  size="xs"
                  loading={replay.isPending}
                  disabled={body === undefined}
                  onClick={() => body !== undefined && replay.mutate({ params: { id }, body }, { onSuccess: carriedOut })}
                >
                  Replay {label}
                </Button>
                <Confirm
                  label={`Delete ${label}`}
                  title={`Delete ${label} dead letters?`}
                  onConfirm={async () => {
                    if (body === undefined) throw new Error('The selected dead letters no longer exist.')
                    await purge.mutateAsync({ params: { id }, body })
                    carriedOut()
                  }}
                >
                  They will never be delivered. The generations themselves stay in the gateway.
                </Confirm>
              </Group>
            </Group>
          )}
          <LetterTable letters={data} wanted={new Set(chosen)} onWanted={setWanted} />
          {total > PAGE && (
            <Pagination
              total={Math.ceil(total / PAGE)}
              value={page}
              onChange={turn}
              size="sm"
              getControlProps={(control) => ({ 'aria-label': control })}
            />
          )}
        </Stack>
      )}
    </Loaded>
  )
}

interface LetterTableProps {
  readonly letters: readonly DeadLetter[]
  readonly wanted: ReadonlySet<string>
  readonly onWanted: (ids: ReadonlySet<string>) => void
}

function LetterTable({ letters, wanted, onWanted }: LetterTableProps): ReactNode {
  const toggle = (id: string): void => {
    const next = new Set(wanted)
    if (!next.delete(id)) next.add(id)
    onWanted(next)
  }
  return (
    <DataTable
      label="Dead letters"
      rows={letters}
      keyOf={({ id }) => id}
      empty="None. Everything was delivered or is still queued."
      columns={columnsOf(wanted, toggle)}
    />
  )
}

const columnsOf = (wanted: ReadonlySet<string>, toggle: (id: string) => void): readonly Column<DeadLetter>[] => [
  {
    header: '',
    cell: ({ id, generation_id: generation }) => (
      <Checkbox size="xs" aria-label={`Select ${generation}`} checked={wanted.has(id)} onChange={() => toggle(id)} />
    ),
  },
  {
    header: 'Generation',
    cell: ({ generation_id: generation, died_at: died }) => (
      <Stack gap={2} align="flex-start">
        <Code style={{ wordBreak: 'break-all' }}>{generation}</Code>
        <Text size="xs" c="dimmed">
          {moment(died)}
        </Text>
      </Stack>
    ),
  },
  {
    header: 'Reason',
    cell: ({ reason, status, error }) => (
      <>
        <Text size="sm">
          {reason}
          {status === null ? '' : `, HTTP ${status}`}
        </Text>
        {error !== null && (
          <Text size="xs" c="dimmed" style={{ wordBreak: 'break-word' }}>
            {error}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Attempts', cell: ({ attempts }) => count(attempts), isFigure: true },
]
