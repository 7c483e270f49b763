import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'
import { usePages } from '../../api/pages.ts'
import type { Workspace } from '../../api/schema.ts'
import { containing, searching } from '../../lib/find.ts'
import { NOTHING, percent, usd } from '../../lib/format.ts'
import { useAddress } from '../../ui/address.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { DrawnRows } from '../../ui/drawn-rows.tsx'
import { FindField } from '../../ui/find-field.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { CreateWorkspace } from './create.tsx'
import { WorkspaceDetail } from './detail.tsx'

/** How often the spending is read, in milliseconds. */
const READ_AGAIN_MS = 60_000

export default function WorkspacesPage(): ReactNode {
  const { get, set } = useAddress()
  const { of, hasMore } = usePages('GET /api/v1/workspaces', {}, { all: true, every: READ_AGAIN_MS })
  const text = get('q') ?? ''
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
      about="A workspace holds the keys, budgets, provider keys, presets, guardrails and destinations of one team. Keys see only their own workspace, except that those of the default workspace see all. Days, weeks and months begin at midnight UTC."
      actions={<Button onClick={create}>Create workspace</Button>}
    >
      <FindField among="name, slug or id" value={text} onChange={(q) => set({ q })} />
      <Loaded of={of}>
        {(workspaces) => (
          <DrawnRows of={containing(workspaces, text, ({ name, slug, id }) => [name, slug, id])} name="workspaces">
            {(drawn) => (
              <DataTable
                label="Workspaces"
                rows={drawn}
                keyOf={({ id }) => id}
                onOpen={({ id }) => set({ workspace: id }, 'push')}
                empty={text === '' ? 'This key can see no workspaces.' : hasMore ? searching(of.error) : `No workspace contains “${text}”.`}
                columns={COLUMNS}
              />
            )}
          </DrawnRows>
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

const loggingShown = ({ is_observability_io_logging_enabled: logs, io_logging_sampling_rate: rate }: Workspace): string => {
  if (!logs) return 'no'
  return rate === 1 ? 'yes' : `${percent(rate)} of sessions`
}

const COLUMNS: readonly Column<Workspace>[] = [
  {
    header: 'Name',
    cell: ({ name, slug, description }) => (
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
  { header: 'Today', cell: ({ usage_daily: spent }) => usd(spent), isFigure: true },
  { header: 'Week', cell: ({ usage_weekly: spent }) => usd(spent), isFigure: true },
  { header: 'Month', cell: ({ usage_monthly: spent }) => usd(spent), isFigure: true },
  { header: 'Text model', cell: ({ default_text_model: model }) => model ?? NOTHING },
  { header: 'Sort', cell: ({ default_provider_sort: sort }) => sort ?? NOTHING },
  { header: 'Stores content', cell: loggingShown },
  { header: 'Forwarded', cell: ({ is_observability_broadcast_enabled: forwards }) => (forwards ? 'yes' : 'no') },
]
