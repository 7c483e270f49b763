import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'
import { usePages } from '../../api/pages.ts'
import type { Preset } from '../../api/schema.ts'
import { useWorkspaces } from '../../api/workspaces.ts'
import { moment } from '../../lib/format.ts'
import { useAddress } from '../../ui/address.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { CreatePreset } from './create.tsx'
import { PresetDetail } from './detail.tsx'

export default function PresetsPage(): ReactNode {
  const { get, set } = useAddress()
  const { workspaces, own } = useWorkspaces()
  const [creating, { open, close }] = useDisclosure()
  // Every creation starts with an empty form.
  const [creation, setCreation] = useState(0)
  // Without a workspace in the URL it is the key's own, as for the gateway.
  const named = get('workspace')
  const workspaceId = named ?? own ?? ''
  const { of } = usePages('GET /api/v1/presets', { query: { workspace_id: named } }, { all: true })
  const elsewhere = (id: string): string | undefined => (id === own ? undefined : id)
  const create = (): void => {
    setCreation(creation + 1)
    open()
  }
  return (
    <Page
      title="Presets"
      about="A preset stores part of a request under a name: model, instructions, sampling, tools, routing. Programs refer to the name, so you can change the preset without changing them."
      actions={<Button onClick={create}>Create preset</Button>}
    >
      <Group align="flex-end" gap="sm">
        <WorkspaceSelect workspaces={workspaces} value={workspaceId} onChange={(id) => set({ workspace: elsewhere(id), preset: undefined })} />
      </Group>
      <Loaded of={of}>
        {(presets) => (
          <DataTable
            label="Presets"
            rows={presets}
            keyOf={({ id }) => id}
            onOpen={({ slug }) => set({ preset: slug }, 'push')}
            columns={COLUMNS}
            empty={
              <>
                No presets in this workspace yet.{' '}
                <Button variant="subtle" size="compact-sm" onClick={create}>
                  Create one
                </Button>
              </>
            }
          />
        )}
      </Loaded>
      <CreatePreset
        key={creation}
        opened={creating}
        workspaces={workspaces}
        workspaceId={workspaceId}
        onClose={close}
        onCreated={(slug, id) => {
          close()
          set({ preset: slug, workspace: elsewhere(id) }, 'push')
        }}
      />
      <PresetDetail slug={get('preset') ?? ''} workspaceId={named ?? ''} onClose={() => set({ preset: undefined })} />
    </Page>
  )
}

const COLOURS: { readonly [S in Preset['status']]: string } = { active: 'teal', disabled: 'gray', archived: 'gray' }

const COLUMNS: readonly Column<Preset>[] = [
  {
    header: 'Name',
    cell: ({ name, slug, description }) => (
      <Stack gap={0} miw={160}>
        <Text size="sm" fw={500} style={{ wordBreak: 'break-word' }}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          @preset/{slug}
        </Text>
        {description !== null && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            {description}
          </Text>
        )}
      </Stack>
    ),
  },
  {
    header: 'Status',
    cell: ({ status }) => (
      <Badge variant="light" size="sm" color={COLOURS[status]} miw="max-content">
        {status}
      </Badge>
    ),
  },
  { header: 'Updated', cell: ({ updated_at: at }) => moment(at) },
  { header: 'Created', cell: ({ created_at: at }) => moment(at) },
]
