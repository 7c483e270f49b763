import { Textarea, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange } from '../../api/hooks.ts'
import type { Workspace } from '../../api/schema.ts'
import { isChanged } from '../../lib/changes.ts'
import { refusalAt, refusalElsewhere } from '../../lib/fields.ts'
import { EditForm } from '../../ui/edit-form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { ContentFields } from './fields.tsx'
import { createPresetBody, newPresetForm, parseConfig, refusalOfConfig } from './form.ts'

interface FormProps {
  readonly workspaces: readonly Workspace[]
  readonly workspaceId: string
  readonly onClose: () => void
  readonly onCreated: (slug: string, workspaceId: string) => void
}

export interface CreatePresetProps extends FormProps {
  readonly opened: boolean
}

export function CreatePreset({ opened, ...props }: CreatePresetProps): ReactNode {
  return (
    <FormDialog opened={opened} onClose={props.onClose} title="Create a preset">
      <CreateForm {...props} />
    </FormDialog>
  )
}

const PATHS = ['slug', 'name', 'description', 'system_prompt', 'workspace_id'] as const

function CreateForm({ workspaces, workspaceId, onClose, onCreated }: FormProps): ReactNode {
  const [empty] = useState(() => newPresetForm(workspaceId))
  const [form, setForm] = useState(empty)
  const create = useChange('POST /api/v1/presets', ['GET /api/v1/presets'])
  const { error } = create
  const { config } = parseConfig(form.config)
  return (
    <EditForm
      label="New preset"
      action="Create preset"
      busy={create.isPending}
      problem={refusalOfConfig(error) === undefined ? refusalElsewhere(error, PATHS) : null}
      disabled={form.slug.trim() === '' || config === undefined}
      unsaved={isChanged(empty, form)}
      onSubmit={() =>
        config !== undefined &&
        create.mutate({ body: createPresetBody(form, config) }, { onSuccess: ({ data }) => onCreated(data.slug, data.workspace_id) })
      }
      onCancel={onClose}
    >
      <WorkspaceSelect
        workspaces={workspaces}
        value={form.workspaceId}
        onChange={(id) => setForm({ ...form, workspaceId: id })}
        error={refusalAt(error, 'workspace_id')}
      />
      <TextInput
        label="Slug"
        description="Requests use it as @preset/slug. It cannot be changed later."
        value={form.slug}
        onChange={(event) => setForm({ ...form, slug: event.currentTarget.value })}
        error={refusalAt(error, 'slug')}
        autoComplete="off"
        required
        data-autofocus
      />
      <TextInput
        label="Name"
        placeholder="as the slug"
        value={form.name}
        onChange={(event) => setForm({ ...form, name: event.currentTarget.value })}
        error={refusalAt(error, 'name')}
        autoComplete="off"
      />
      <Textarea
        label="Description"
        value={form.description}
        onChange={(event) => setForm({ ...form, description: event.currentTarget.value })}
        error={refusalAt(error, 'description')}
        autosize
        minRows={1}
        maxRows={5}
      />
      <ContentFields form={form} onChange={(next) => setForm({ ...form, ...next })} error={error} />
    </EditForm>
  )
}
