import { Alert, Divider, Group, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { Answer } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { isChanged } from '../../lib/changes.ts'
import { moment } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { changes, createBody, formOf, savedForm, type GuardrailForm } from './form.ts'
import { KeysSection } from './keys-section.tsx'
import type { RuleField } from './rule-schema.ts'
import { RulesForm } from './rules-form.tsx'

export type Guardrail = Answer<'GET /api/v1/guardrails/{id}'>['data']
export type Workspace = Answer<'GET /api/v1/workspaces'>['data'][number]

const OUTDATES = ['GET /api/v1/guardrails', 'GET /api/v1/guardrails/{id}'] as const

export interface CreatorProps {
  readonly fields: readonly RuleField[]
  readonly workspaces: readonly Workspace[]
  /** The default workspace for a new guardrail; '' is the key's own. */
  readonly workspaceId: string
  readonly onCreated: (guardrail: Guardrail) => void
}

export function Creator({ fields, workspaces, workspaceId, onCreated }: CreatorProps): ReactNode {
  const create = useChange('POST /api/v1/guardrails', OUTDATES)
  const [chosen, setChosen] = useState<string>()
  const workspace = chosen ?? workspaceId
  const [empty] = useState(() => formOf(fields))
  const [form, setForm] = useState(empty)
  return (
    <RulesForm
      fields={fields}
      initial={empty}
      form={form}
      onForm={setForm}
      action="Create guardrail"
      isBusy={create.isPending}
      error={create.error}
      onSubmit={() => {
        const body = { ...createBody(fields, form), ...(workspace === '' ? {} : { workspace_id: workspace }) }
        create.mutate({ body }, { onSuccess: ({ data }) => onCreated(data) })
      }}
    >
      <WorkspaceSelect workspaces={workspaces} value={workspace} onChange={setChosen} />
    </RulesForm>
  )
}

export interface EditorProps {
  readonly fields: readonly RuleField[]
  readonly guardrail: Guardrail
  readonly isDefault: boolean
  readonly onDeleted: () => void
}

export function Editor({ fields, guardrail, isDefault, onDeleted }: EditorProps): ReactNode {
  const update = useChange('PATCH /api/v1/guardrails/{id}', OUTDATES)
  const remove = useChange('DELETE /api/v1/guardrails/{id}', isDefault ? OUTDATES : [OUTDATES[0]])
  // The state when it was opened or saved: changes by others do not count as changes in this form, and are not undone by it.
  const [before, setBefore] = useState(() => formOf(fields, guardrail))
  const [form, setForm] = useState(before)
  const params = { id: guardrail.id }
  const onSaved = (sent: GuardrailForm, stored: GuardrailForm): void => {
    setBefore(stored)
    setForm((now) => savedForm(sent, now, stored))
  }
  return (
    <Stack gap="lg">
      {isDefault && <Alert color="gray">Default of its workspace: it applies to every key there.</Alert>}
      {!isDefault && <KeysSection id={guardrail.id} workspaceId={guardrail.workspace_id} />}
      <Divider />
      <RulesForm
        fields={fields}
        initial={before}
        form={form}
        onForm={setForm}
        action="Save changes"
        isBusy={update.isPending}
        error={update.error}
        onSubmit={() => {
          const body = changes(fields, before, form)
          if (Object.keys(body).length > 0) update.mutate({ params, body }, { onSuccess: ({ data }) => onSaved(form, formOf(fields, data)) })
        }}
      />
      {update.isSuccess && !isChanged(before, form) && (
        <Text component="output" display="block" size="sm" c="dimmed" ta="right">
          Saved.
        </Text>
      )}
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          Created {moment(guardrail.created_at)}, changed {moment(guardrail.updated_at)}
        </Text>
        <Confirm
          label={isDefault ? 'Remove all rules' : 'Delete'}
          title={isDefault ? `Remove all rules of “${guardrail.name}”?` : `Delete “${guardrail.name}”?`}
          onConfirm={() => remove.mutateAsync({ params })}
          onDone={onDeleted}
        >
          {isDefault
            ? 'The guardrail stays, without any rules.'
            : 'Its keys are then subject only to their workspace’s guardrail. This cannot be undone.'}
        </Confirm>
      </Group>
    </Stack>
  )
}
