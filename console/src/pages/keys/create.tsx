import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useRef, useState, type ReactNode } from 'react'
import type { ApiError } from '../../api/client.ts'
import { useChange, useRead } from '../../api/hooks.ts'
import type { CreateKeyRequest, Workspace } from '../../api/schema.ts'
import { isChanged } from '../../lib/changes.ts'
import { refusalAt, refusalElsewhere } from '../../lib/fields.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { EditForm } from '../../ui/edit-form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { KEY_PATHS, KeyFields } from './fields.tsx'
import { createKeyBody, curlOf, newKeyForm } from './form.ts'

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
  const done = (): void => {
    onClose()
    setSecret(undefined)
  }
  if (secret !== undefined) {
    // Only the button closes it, since closing it by mistake would lose the key.
    return (
      <Modal opened onClose={done} title="Your new key" size="lg" closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
        <NewKey secret={secret} onDone={done} />
      </Modal>
    )
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
  const expires = useRef<HTMLInputElement>(null)
  const [isHalfTyped, setHalfTyped] = useState(false)
  const submit = (): void => {
    // A date without a time reads as empty, which would create a key that never expires.
    const isHalf = expires.current?.validity.badInput === true || (form.expires !== '' && Number.isNaN(Date.parse(form.expires)))
    setHalfTyped(isHalf)
    if (!isHalf) onCreate(createKeyBody(form))
  }
  return (
    <EditForm
      label="New key"
      action="Create key"
      busy={isBusy}
      problem={refusalElsewhere(error, [...KEY_PATHS, 'expires_at', 'workspace_id'])}
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
      <KeyFields form={form} onChange={(next) => setForm({ ...form, ...next })} error={error} />
      <TextInput
        ref={expires}
        type="datetime-local"
        label="Expires"
        description="In your time zone. Leave empty for never. This cannot be changed later."
        value={form.expires}
        onChange={(event) => setForm({ ...form, expires: event.currentTarget.value })}
        error={isHalfTyped ? 'Enter a date and a time.' : refusalAt(error, 'expires_at')}
      />
    </EditForm>
  )
}

const FREE_MODEL = 'demo/echo'

function NewKey({ secret, onDone }: { readonly secret: string; readonly onDone: () => void }): ReactNode {
  // A free model that every gateway has unless its operator removed it; otherwise the most popular one.
  const free = useRead('GET /api/v1/models', { query: { q: FREE_MODEL, limit: 100 } })
  const popular = useRead('GET /api/v1/models', { query: { output_modalities: 'text', sort: 'most-popular', limit: 1 } })
  const model = free.data?.data.find(({ id }) => id === FREE_MODEL) ?? popular.data?.data[0]
  return (
    <Stack>
      <Alert color="yellow" title="This key will not be shown again">
        The gateway stores only its hash. Copy the key now.
      </Alert>
      <Copyable value={secret} label="the new key" />
      <Text size="sm" fw={500}>
        Try it
      </Text>
      <Copyable value={curlOf(location.origin, secret, model?.id)} label="a first call" />
      <Group justify="flex-end">
        <Button onClick={onDone} data-autofocus>
          I have copied it
        </Button>
      </Group>
    </Stack>
  )
}
