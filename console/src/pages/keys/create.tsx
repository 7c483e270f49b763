import { useState, type ReactNode } from 'react'
import type { ApiError } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import type { CreateKeyRequest, Workspace } from '../../api/schema.ts'
import { isChanged } from '../../lib/changes.ts'
import { refusalAt, refusalElsewhere } from '../../lib/fields.ts'
import { EditForm } from '../../ui/edit-form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { useFocusBack } from '../../ui/use-focus-back.ts'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { KEY_PATHS, KeyFields, useExpiry } from './fields.tsx'
import { createKeyBody, newKeyForm } from './form.ts'
import { NewKey } from './new-key.tsx'

export interface CreateKeyProps {
  readonly opened: boolean
  readonly workspaces: readonly Workspace[]
  readonly workspaceId: string
  readonly onClose: () => void
}

/** The form for a new key, which is then shown once. */
export function CreateKey({ opened, workspaces, workspaceId, onClose }: CreateKeyProps): ReactNode {
  const [secret, setSecret] = useState<string>()
  // Kept outside of the form: a key is created even if the form is closed meanwhile, and must be shown.
  const create = useChange('POST /api/v1/keys', ['GET /api/v1/keys'])
  // The form and the new key follow one another, so neither can give the focus back alone.
  useFocusBack(opened)
  const done = (): void => {
    onClose()
    setSecret(undefined)
  }
  if (secret !== undefined) {
    return <NewKey title="Your new key" secret={secret} onDone={done} />
  }
  return (
    <FormDialog opened={opened} onClose={onClose} title="Create a key">
      <CreateKeyForm
        workspaces={workspaces}
        workspaceId={workspaceId}
        isBusy={create.isPending}
        error={create.error}
        onCancel={onClose}
        onCreate={(body) => create.mutate({ body }, { onSuccess: ({ key }) => setSecret(key) })}
      />
    </FormDialog>
  )
}

interface FormProps extends Pick<CreateKeyProps, 'workspaces' | 'workspaceId'> {
  readonly isBusy: boolean
  readonly error: ApiError | null
  readonly onCancel: () => void
  readonly onCreate: (body: CreateKeyRequest) => void
}

function CreateKeyForm({ workspaces, workspaceId, isBusy, error, onCancel, onCreate }: FormProps): ReactNode {
  const [empty] = useState(() => newKeyForm(workspaceId))
  const [form, setForm] = useState(empty)
  const expiry = useExpiry()
  const submit = (): void => {
    if (expiry.isComplete(form.expires)) onCreate(createKeyBody(form))
  }
  return (
    <EditForm
      label="New key"
      action="Create key"
      busy={isBusy}
      problem={refusalElsewhere(error, [...KEY_PATHS, 'workspace_id'])}
      disabled={form.name.trim() === ''}
      unsaved={isChanged(empty, form)}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <WorkspaceSelect
        workspaces={workspaces}
        value={form.workspaceId}
        onChange={(id) => setForm({ ...form, workspaceId: id })}
        error={refusalAt(error, 'workspace_id')}
      />
      <KeyFields form={form} onChange={(next) => setForm({ ...form, ...next })} error={error} expiry={expiry} />
    </EditForm>
  )
}
