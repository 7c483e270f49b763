import { Badge, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { usePages } from '../../api/pages.ts'
import type { BYOKKey } from '../../api/schema.ts'
import { useWorkspaces } from '../../api/workspaces.ts'
import { moment } from '../../lib/format.ts'
import { useAddress } from '../../ui/address.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { CreateProviderKey } from './create.tsx'
import { ProviderKeyDetail } from './detail.tsx'
import { narrowedTo } from './form.ts'

export default function ProviderKeysPage(): ReactNode {
  const { get, set } = useAddress()
  const { workspaces, own, nameOf } = useWorkspaces()
  const providers = useRead('GET /api/v1/providers').data?.data ?? []
  const [creating, { open, close }] = useDisclosure()
  // Every creation starts with an empty form.
  const [creation, setCreation] = useState(0)
  const provider = get('provider')
  // Without a workspace in the URL it is the key's own, as for the gateway.
  const named = get('workspace')
  const workspaceId = named ?? own ?? ''
  const query = { provider, workspace_id: named }
  const { of } = usePages('GET /api/v1/byok', { query }, { all: true })
  const providerName = (slug: string): string => providers.find((one) => one.slug === slug)?.name ?? slug
  const create = (): void => {
    setCreation(creation + 1)
    open()
  }
  return (
    <Page
      title="Provider keys"
      about="A workspace's own keys at providers. They are used before the gateway's credentials, or after them as a fallback, and their spending is counted separately. They are stored encrypted and never shown."
      actions={<Button onClick={create}>Add key</Button>}
    >
      <Group align="flex-end" gap="sm">
        <WorkspaceSelect workspaces={workspaces} value={workspaceId} onChange={(id) => set({ workspace: id === own ? undefined : id })} />
        <Select
          label="Provider"
          placeholder="all providers"
          data={providers.map(({ slug, name }) => ({ value: slug, label: name }))}
          value={provider ?? null}
          onChange={(slug) => set({ provider: slug ?? undefined })}
          searchable
          clearable
          w={{ base: '100%', xs: 240 }}
        />
      </Group>
      <Loaded of={of}>
        {(rows) => (
          <DataTable
            label="Provider keys"
            rows={rows.map((key) => ({ key, provider: providerName(key.provider) }))}
            keyOf={({ key }) => key.id}
            onOpen={({ key }) => set({ key: key.id }, 'push')}
            columns={COLUMNS}
            empty={
              <>
                This workspace has no key of its own{provider === undefined ? '' : ` at ${providerName(provider)}`}: the gateway's credentials serve
                its calls.{' '}
                <Button variant="subtle" size="compact-sm" onClick={create}>
                  Add one
                </Button>
              </>
            }
          />
        )}
      </Loaded>
      <CreateProviderKey
        key={creation}
        opened={creating}
        providers={providers}
        workspaces={workspaces}
        workspaceId={workspaceId}
        provider={provider ?? ''}
        onClose={close}
      />
      <ProviderKeyDetail id={get('key') ?? ''} providerName={providerName} workspaceName={nameOf} onClose={() => set({ key: undefined })} />
    </Page>
  )
}

interface Row {
  readonly key: BYOKKey
  readonly provider: string
}

const COLUMNS: readonly Column<Row>[] = [
  { header: 'Provider', cell: ({ provider }) => provider },
  {
    header: 'Name',
    cell: ({ key: { name, label } }) => (
      <Stack gap={0}>
        {name !== null && (
          <Text size="sm" fw={500} style={{ wordBreak: 'break-word' }}>
            {name}
          </Text>
        )}
        <Text size="xs" c="dimmed" ff="monospace">
          {label}
        </Text>
      </Stack>
    ),
  },
  {
    header: 'State',
    cell: ({ key: { disabled } }) => (
      <Badge variant="light" size="sm" color={disabled ? 'gray' : 'teal'} miw="max-content">
        {disabled ? 'disabled' : 'in use'}
      </Badge>
    ),
  },
  { header: 'Used', cell: ({ key }) => (key.is_fallback ? 'as a fallback' : 'first') },
  { header: 'Who may use it', cell: ({ key }) => narrowedTo(key) ?? 'all calls' },
  { header: 'Created', cell: ({ key }) => moment(key.created_at) },
]
