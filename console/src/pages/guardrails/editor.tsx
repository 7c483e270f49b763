import { Alert, Divider, Group, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { Answer } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { moment } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { changes, createBody, formOf } from './form.ts'
import { KeysSection } from './keys-section.tsx'
import type { RuleField } from './rule-schema.ts'
import { RulesForm } from './rules-form.tsx'

export type Guardrail = Answer<'GET /api/v1/guardrails/{id}'>['data']
export type Workspace = Answer<'GET /api/v1/workspaces'>['data'][number]

const OUTDATES = ['GET /api/v1/guardrails', 'GET /api/v1/guardrails/{id}'] as const

export interface CreatorProps {
  readonly fields: readonly RuleField[]
  readonly workspaces: readonly Workspace[]
  /** Where it is made unless another is chosen; '' is that of the key. */
  readonly workspaceId: string
  readonly onCreated: (guardrail: Guardrail) => void
}

export function Creator({ fields, workspaces, workspaceId, onCreated }: CreatorProps): ReactNode {
  const create = useChange('POST /api/v1/guardrails', OUTDATES)
  const [chosen, setChosen] = useState<string>()
  const workspace = chosen ?? workspaceId
  return (
    <RulesForm
      fields={fields}
      initial={formOf(fields)}
      action="Create the guardrail"
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(form) => {
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
  // As it was when it was opened or saved: what others change meanwhile is no change of this form, and takes nothing out of it.
  const [saved, setSaved] = useState({ guardrail, times: 0 })
  const before = formOf(fields, saved.guardrail)
  const params = { id: guardrail.id }
  return (
    <Stack gap="lg">
      {isDefault && <Alert color="gray">The default of its workspace: it acts on every key there.</Alert>}
      {!isDefault && <KeysSection id={guardrail.id} workspaceId={guardrail.workspace_id} />}
      <Divider />
      <RulesForm
        // What was saved is what the next changes are held against.
        key={saved.times}
        fields={fields}
        initial={before}
        action="Save the changes"
        isBusy={update.isPending}
        error={update.error}
        onSubmit={(form) => {
          const body = changes(fields, before, form)
          if (Object.keys(body).length === 0) return
          update.mutate({ params, body }, { onSuccess: ({ data }) => setSaved({ guardrail: data, times: saved.times + 1 }) })
        }}
      />
      {update.isSuccess && (
        <Text component="output" display="block" size="sm" c="dimmed" ta="right">
          Saved.
        </Text>
      )}
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          Created {moment(guardrail.created_at)}, changed {moment(guardrail.updated_at)}
        </Text>
        <Confirm
          label={isDefault ? 'Take everything back' : 'Delete'}
          title={isDefault ? `Empty “${guardrail.name}”?` : `Delete “${guardrail.name}”?`}
          onConfirm={() => remove.mutateAsync({ params }).then(onDeleted)}
        >
          {isDefault
            ? 'It stays, and demands nothing any more.'
            : 'The keys it acts on are under their workspace’s guardrail alone from then on. It does not come back.'}
        </Confirm>
      </Group>
    </Stack>
  )
}
