import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo, useState, type ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { usePages } from '../../api/pages.ts'
import type { Workspace } from '../../api/schema.ts'
import { NOTHING, percent, usd } from '../../lib/format.ts'
import { useAddress } from '../../ui/address.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { spentOf, type SpentSums } from './budgets.ts'
import { CreateWorkspace } from './create.tsx'
import { WorkspaceDetail } from './detail.tsx'

interface Row {
  readonly workspace: Workspace
  /** Spent with the gateway's accounts; undefined while unknown. */
  readonly spent: SpentSums | undefined
}

export default function WorkspacesPage(): ReactNode {
  const { get, set } = useAddress()
  const { of } = usePages('GET /api/v1/workspaces', {}, { all: true })
  const spent = useSpent()
  const [creating, { open, close }] = useDisclosure()
  // Every creation starts with an empty form.
  const [creation, setCreation] = useState(0)
  const create = (): void => {
    setCreation(creation + 1)
    open()
  }
  return (
    <Page
      title="Workspaces"
      about="A workspace holds the keys, budgets, provider keys, presets, guardrails and destinations of one team. Keys see only their own workspace, except that those of the default workspace see all."
      actions={<Button onClick={create}>Create workspace</Button>}
    >
      <Loaded of={of}>
        {(workspaces) => (
          <DataTable
            label="Workspaces"
            rows={workspaces.map((workspace) => ({ workspace, spent: spent?.(workspace.id) }))}
            keyOf={({ workspace }) => workspace.id}
            onOpen={({ workspace }) => set({ workspace: workspace.id }, 'push')}
            empty="This key can see no workspaces."
            columns={COLUMNS}
          />
        )}
      </Loaded>
      <CreateWorkspace
        key={creation}
        opened={creating}
        onClose={close}
        onCreated={(id) => {
          close()
          set({ workspace: id }, 'push')
        }}
      />
      <WorkspaceDetail id={get('workspace') ?? ''} onClose={() => set({ workspace: undefined })} />
    </Page>
  )
}

/** Milliseconds. */
const READ_AGAIN_MS = 60_000

/** The spending of each workspace, by its id. */
function useSpent(): ((id: string) => SpentSums) | undefined {
  // Days are relative to the time of reading, because a tab may stay open past midnight.
  const { data, dataUpdatedAt: now } = useRead('GET /api/v1/activity', { query: { group_by: 'workspace' } }, { every: READ_AGAIN_MS })
  return useMemo(() => {
    if (data === undefined) return undefined
    const rows = Map.groupBy(data.data, ({ workspace_id: id }) => id)
    return (id) => spentOf(rows.get(id) ?? [], now, false)
  }, [data, now])
}

const loggingShown = ({ is_observability_io_logging_enabled: logs, io_logging_sampling_rate: rate }: Workspace): string => {
  if (!logs) return 'no'
  return rate === 1 ? 'yes' : `${percent(rate)} of sessions`
}

const COLUMNS: readonly Column<Row>[] = [
  {
    header: 'Name',
    cell: ({ workspace: { name, slug, description } }) => (
      <Stack gap={0} miw={160}>
        <Text size="sm" fw={500} style={{ wordBreak: 'break-word' }}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {slug}
        </Text>
        {description !== null && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            {description}
          </Text>
        )}
      </Stack>
    ),
  },
  { header: 'Today', cell: ({ spent }) => usd(spent?.daily), isFigure: true },
  { header: 'Week', cell: ({ spent }) => usd(spent?.weekly), isFigure: true },
  { header: 'Month', cell: ({ spent }) => usd(spent?.monthly), isFigure: true },
  { header: 'Text model', cell: ({ workspace }) => workspace.default_text_model ?? NOTHING },
  { header: 'Sort', cell: ({ workspace }) => workspace.default_provider_sort ?? NOTHING },
  { header: 'Stores content', cell: ({ workspace }) => loggingShown(workspace) },
  { header: 'Forwarded', cell: ({ workspace }) => (workspace.is_observability_broadcast_enabled ? 'yes' : 'no') },
]
