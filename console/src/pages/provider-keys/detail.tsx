import { Button, Divider, Group, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange, useRead } from '../../api/hooks.ts'
import type { BYOKKey } from '../../api/schema.ts'
import { afterSave, isChanged } from '../../lib/changes.ts'
import { refusalElsewhere } from '../../lib/fields.ts'
import { moment } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { EditForm } from '../../ui/edit-form.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { useDone } from '../../ui/unsaved.tsx'
import { PROVIDER_KEY_PATHS, ProviderKeyFields } from './fields.tsx'
import { providerKeyChanges, providerKeyFormOf } from './form.ts'

export interface ProviderKeyDetailProps {
  /** '' if none is open. */
  readonly id: string
  readonly providerName: (slug: string) => string
  readonly workspaceName: (id: string | null) => string
  readonly onClose: () => void
}

const OUTDATED = ['GET /api/v1/byok', 'GET /api/v1/byok/{id}'] as const

export function ProviderKeyDetail(props: ProviderKeyDetailProps): ReactNode {
  const { id, onClose } = props
  return (
    <SidePanel title="Provider key" opened={id !== ''} onClose={onClose} size={520}>
      {id !== '' && <Opened key={id} {...props} />}
    </SidePanel>
  )
}

function Opened({ id, providerName, workspaceName, onClose }: ProviderKeyDetailProps): ReactNode {
  const read = useRead('GET /api/v1/byok/{id}', { params: { id } })
  return (
    <Loaded of={read}>
      {({ data: own }) => (
        <Stack>
          <Text fw={600} style={{ wordBreak: 'break-word' }}>
            {own.name ?? providerName(own.provider)}
          </Text>
          <Facts
            label="About the provider key"
            of={[
              ['Provider', providerName(own.provider)],
              ['Key', <code key="label">{own.label}</code>],
              ['State', own.disabled ? 'disabled' : 'in use'],
              ['Workspace', workspaceName(own.workspace_id)],
              ['Order', own.sort_order],
              ['Created', moment(own.created_at)],
            ]}
          />
          <Switches of={own} onDeleted={onClose} />
          <Divider />
          <Editor of={own} />
        </Stack>
      )}
    </Loaded>
  )
}

function Switches({ of: own, onDeleted }: { readonly of: BYOKKey; readonly onDeleted: () => void }): ReactNode {
  const params = { id: own.id }
  const change = useChange('PATCH /api/v1/byok/{id}', OUTDATED)
  // The key is gone afterwards, and must not be read again.
  const remove = useChange('DELETE /api/v1/byok/{id}', ['GET /api/v1/byok'])
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button size="xs" variant="default" loading={change.isPending} onClick={() => change.mutate({ params, body: { disabled: !own.disabled } })}>
          {own.disabled ? 'Enable' : 'Disable'}
        </Button>
        <Confirm label="Delete" title={`Delete ${own.name ?? own.label}?`} onConfirm={() => remove.mutateAsync({ params })} onDone={onDeleted}>
          Calls will use the workspace's other keys or the gateway's own credentials. The key itself stays valid at the provider.
        </Confirm>
      </Group>
      <Problem error={change.error} />
    </Stack>
  )
}

function Editor({ of: own }: { readonly of: BYOKKey }): ReactNode {
  // The state when it was opened: changes by others do not count as changes in this form.
  const [before, setBefore] = useState(own)
  const [form, setForm] = useState(() => providerKeyFormOf(before))
  const change = useChange('PATCH /api/v1/byok/{id}', OUTDATED)
  const body = providerKeyChanges(before, form)
  const done = useDone()
  const onSuccess = ({ data }: { readonly data: BYOKKey }): void => {
    setBefore(data)
    setForm((now) => afterSave(form, now, providerKeyFormOf(data)))
    done()
  }
  return (
    <EditForm
      label="Edit provider key"
      action="Save"
      busy={change.isPending}
      problem={refusalElsewhere(change.error, PROVIDER_KEY_PATHS)}
      disabled={Object.keys(body).length === 0}
      unsaved={isChanged(providerKeyFormOf(before), form)}
      onSubmit={() => change.mutate({ params: { id: own.id }, body }, { onSuccess })}
    >
      <ProviderKeyFields
        form={form}
        onChange={(next) => setForm({ ...form, ...next })}
        error={change.error}
        workspaceId={own.workspace_id ?? ''}
        isStored
      />
    </EditForm>
  )
}
