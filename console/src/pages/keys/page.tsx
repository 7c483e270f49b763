import { Button, Group, Select, Switch } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'
import { usePages } from '../../api/pages.ts'
import { useWorkspaces } from '../../api/workspaces.ts'
import { searching } from '../../lib/find.ts'
import { useAddress } from '../../ui/address.ts'
import { DrawnRows } from '../../ui/drawn-rows.tsx'
import { FindField } from '../../ui/find-field.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { CreateKey } from './create.tsx'
import { KeyDetail } from './detail.tsx'
import { keysWith, unusedFor } from './list.ts'
import { KeyTable } from './table.tsx'

const UNUSED: readonly { readonly value: string; readonly label: string }[] = [
  { value: '', label: 'any time' },
  { value: '30', label: 'not for 30 days' },
  { value: '90', label: 'not for 90 days' },
  { value: '365', label: 'not for a year' },
]

export default function KeysPage(): ReactNode {
  const { get, set } = useAddress()
  const { workspaces, own, nameOf } = useWorkspaces()
  const [creating, { open, close }] = useDisclosure()
  // Every creation starts with an empty form.
  const [creation, setCreation] = useState(0)
  const text = get('q') ?? ''
  const unused = get('unused') ?? ''
  const days = unused === '' ? undefined : Number(unused)
  const [openedAt] = useState(() => Date.now())
  const isFiltered = text !== '' || days !== undefined
  // Without a workspace in the URL it is the key's own, as for the gateway.
  const named = get('workspace')
  const workspaceId = named ?? own ?? ''
  const disabled = get('disabled') === 'true'
  const query = { ...(disabled ? { include_disabled: 'true' } : {}), workspace_id: named }
  const { of, hasMore, isReading, more } = usePages('GET /api/v1/keys', { query }, { all: isFiltered })
  const create = (): void => {
    setCreation(creation + 1)
    open()
  }
  return (
    <Page
      title="Keys"
      about="Inference keys call models. Each has its own spending, limit and rates. Days, weeks and months begin at midnight UTC. Management keys are created on the command line."
      actions={<Button onClick={create}>Create key</Button>}
    >
      <Group align="flex-end" gap="sm">
        <WorkspaceSelect workspaces={workspaces} value={workspaceId} onChange={(id) => set({ workspace: id === own ? undefined : id })} />
        <FindField among="name, label or hash" value={text} onChange={(q) => set({ q })} />
        <Select
          label="Last used"
          data={UNUSED}
          value={unused}
          onChange={(value) => set({ unused: value === null || value === '' ? undefined : value })}
          allowDeselect={false}
          w={{ base: '100%', xs: 170 }}
        />
        <Switch
          label="Show disabled"
          checked={disabled}
          onChange={(event) => set({ disabled: event.currentTarget.checked ? 'true' : undefined })}
          pb={8}
        />
      </Group>
      <Loaded of={of}>
        {(keys) => (
          <DrawnRows
            of={unusedFor(keysWith(keys, text), days, openedAt)}
            name="keys"
            further={hasMore ? { loaded: keys.length, isReading, more } : undefined}
          >
            {(drawn) => (
              <KeyTable
                keys={drawn}
                onOpen={({ hash }) => set({ key: hash }, 'push')}
                empty={
                  !isFiltered ? (
                    <>
                      No keys {disabled ? '' : 'in use '}in this workspace yet.{' '}
                      <Button variant="subtle" size="compact-sm" onClick={create}>
                        Create one
                      </Button>
                    </>
                  ) : hasMore ? (
                    searching(of.error)
                  ) : (
                    `No key ${text === '' ? 'was unused for so long' : `contains “${text}”${days === undefined ? '' : ' and was unused for so long'}`}.`
                  )
                }
              />
            )}
          </DrawnRows>
        )}
      </Loaded>
      <CreateKey key={creation} opened={creating} workspaces={workspaces} workspaceId={workspaceId} onClose={close} />
      <KeyDetail hash={get('key') ?? ''} workspaceName={nameOf} onClose={() => set({ key: undefined })} />
    </Page>
  )
}
