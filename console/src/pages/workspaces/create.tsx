import { useState, type ReactNode } from 'react'
import { useChange } from '../../api/hooks.ts'
import { isChanged } from '../../lib/changes.ts'
import { refusalElsewhere } from '../../lib/fields.ts'
import { EditForm } from '../../ui/edit-form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { WORKSPACE_PATHS, WorkspaceFields } from './fields.tsx'
import { createWorkspaceBody, NEW_WORKSPACE, slugOf, type WorkspaceForm } from './form.ts'

export interface CreateWorkspaceProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Called with its id. */
  readonly onCreated: (id: string) => void
}

export function CreateWorkspace({ opened, onClose, onCreated }: CreateWorkspaceProps): ReactNode {
  return (
    <FormDialog opened={opened} onClose={onClose} title="Create a workspace">
      <CreateForm onCancel={onClose} onCreated={onCreated} />
    </FormDialog>
  )
}

function CreateForm({ onCancel, onCreated }: { readonly onCancel: () => void; readonly onCreated: (id: string) => void }): ReactNode {
  const [form, setForm] = useState(NEW_WORKSPACE)
  const create = useChange('POST /api/v1/workspaces', ['GET /api/v1/workspaces'])
  const onChange = (next: Partial<WorkspaceForm>): void => {
    // The slug follows the name until the user edits it.
    const follows = next.name !== undefined && form.slug === slugOf(form.name)
    setForm({ ...form, ...next, ...(follows ? { slug: slugOf(next.name ?? '') } : {}) })
  }
  return (
    <EditForm
      label="New workspace"
      action="Create workspace"
      busy={create.isPending}
      problem={refusalElsewhere(create.error, WORKSPACE_PATHS)}
      disabled={form.name.trim() === '' || form.slug.trim() === ''}
      unsaved={isChanged(NEW_WORKSPACE, form)}
      onSubmit={() => create.mutate({ body: createWorkspaceBody(form) }, { onSuccess: ({ data }) => onCreated(data.id) })}
      onCancel={onCancel}
    >
      <WorkspaceFields form={form} onChange={onChange} error={create.error} workspaceId={undefined} />
    </EditForm>
  )
}
