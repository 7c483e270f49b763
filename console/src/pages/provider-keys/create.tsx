import { Select } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange } from '../../api/hooks.ts'
import type { Provider, Workspace } from '../../api/schema.ts'
import { isChanged } from '../../lib/changes.ts'
import { refusalAt, refusalElsewhere } from '../../lib/fields.ts'
import { EditForm } from '../../ui/edit-form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { PROVIDER_KEY_PATHS, ProviderKeyFields } from './fields.tsx'
import { createProviderKeyBody, newProviderKeyForm } from './form.ts'

interface FormProps {
  readonly providers: readonly Provider[]
  readonly workspaces: readonly Workspace[]
  readonly workspaceId: string
  /** The provider that the list is filtered by; '' is none. */
  readonly provider: string
  readonly onClose: () => void
}

export interface CreateProviderKeyProps extends FormProps {
  readonly opened: boolean
}

export function CreateProviderKey({ opened, ...props }: CreateProviderKeyProps): ReactNode {
  return (
    <FormDialog opened={opened} onClose={props.onClose} title="Add a provider key">
      <CreateForm {...props} />
    </FormDialog>
  )
}

function CreateForm({ providers, workspaces, workspaceId, provider, onClose }: FormProps): ReactNode {
  const [empty] = useState(() => newProviderKeyForm(workspaceId, provider))
  const [form, setForm] = useState(empty)
  const create = useChange('POST /api/v1/byok', ['GET /api/v1/byok'])
  const { error, isPending } = create
  return (
    <EditForm
      label="New provider key"
      action="Add key"
      busy={isPending}
      problem={refusalElsewhere(error, [...PROVIDER_KEY_PATHS, 'provider', 'workspace_id'])}
      disabled={form.provider === '' || form.secret.trim() === ''}
      unsaved={isChanged(empty, form)}
      onSubmit={() => create.mutate({ body: createProviderKeyBody(form) }, { onSuccess: onClose })}
      onCancel={onClose}
    >
      <WorkspaceSelect
        workspaces={workspaces}
        value={form.workspaceId}
        // The selected keys belong to the previous workspace.
        onChange={(id) => setForm({ ...form, workspaceId: id, keys: [] })}
        error={refusalAt(error, 'workspace_id')}
      />
      <Select
        label="Provider"
        data={providers.map(({ slug, name }) => ({ value: slug, label: name }))}
        value={form.provider === '' ? null : form.provider}
        onChange={(slug) => setForm({ ...form, provider: slug ?? '' })}
        error={refusalAt(error, 'provider')}
        nothingFoundMessage="No such provider"
        searchable
        required
      />
      <ProviderKeyFields
        form={form}
        onChange={(next) => setForm({ ...form, ...next })}
        error={error}
        workspaceId={form.workspaceId}
        isStored={false}
      />
    </EditForm>
  )
}
