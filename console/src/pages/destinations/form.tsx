import { Alert, Button, Group, List, Select, Stack, Switch, TextInput, Title } from '@mantine/core'
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { useWorkspaces } from '../../api/workspaces.ts'
import { isChanged } from '../../lib/changes.ts'
import { focusFirstInvalid } from '../../ui/first-invalid.ts'
import { KeyPicker } from '../../ui/key-picker.tsx'
import { MOST_OPTIONS } from '../../ui/most-options.ts'
import { NotSaved } from '../../ui/not-saved.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useUnsaved } from '../../ui/unsaved.tsx'
import type { Broadcast, Draft } from './body.ts'
import { Fields } from './field-control.tsx'
import { FilterEditor } from './filter-editor.tsx'
import type { RuleWords } from './filter-rules.ts'
import { elsewhere, problemAt, refusedFields } from './problems.ts'
import type { Field } from './schema-fields.ts'
import type { Json, Problems } from './values.ts'

export interface DestinationFormProps {
  /** The values before anything was typed. */
  readonly initial: Draft
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
  readonly fields: readonly Field[]
  readonly words: RuleWords
  /** The stored settings; absent: there are none yet. */
  readonly stored?: Json | undefined
  /** Missing and malformed values. */
  readonly problems: Problems
  /** The gateway's error for the last attempt. */
  readonly refusal: Error | null
  readonly submit: string
  readonly busy: boolean
  /** False: there is nothing to save. */
  readonly canSubmit?: boolean
  readonly onSubmit: () => void
}

const PLACES = ['type', 'name', 'workspace_id', 'sampling_rate', 'privacy_mode', 'api_key_hashes', 'filter_rules']

/** Everything about a destination that can be edited. Problems are shown after the first attempt to save. */
export function DestinationForm(props: DestinationFormProps): ReactNode {
  const { initial, draft, onDraft, fields, words, stored, refusal, submit, busy, canSubmit = true, onSubmit } = props
  const [tried, setTried] = useState(false)
  const [badJson, setBadJson] = useState<string>()
  const form = useRef<HTMLFormElement>(null)
  useUnsaved(badJson !== undefined || isChanged(initial, draft))
  const own: Problems = { ...props.problems, ...(badJson === undefined ? {} : { filter_rules: badJson }) }
  const refused = refusedFields(refusal)
  const problems: Problems = { ...refused, ...(tried ? own : {}) }
  const places = [...PLACES, ...fields.map(({ name }) => `config.${name}`)]
  const homeless = elsewhere(problems, places)
  // Moves the focus to the field that the gateway has refused.
  useEffect(() => {
    if (refusal !== null) focusFirstInvalid(form.current)
  }, [refusal])
  const send = (event: FormEvent): void => {
    event.preventDefault()
    const isRight = Object.keys(own).length === 0
    // What is typed after sending has not been attempted yet.
    setTried(!isRight)
    if (isRight) onSubmit()
    else setTimeout(() => focusFirstInvalid(form.current))
  }
  const set = (part: Partial<Draft>): void => onDraft({ ...draft, ...part })
  return (
    <form onSubmit={send} ref={form} noValidate>
      <Stack>
        <TextInput
          label="Name"
          withAsterisk
          aria-required
          value={draft.name}
          error={problemAt(problems, 'name')}
          autoComplete="off"
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
        />
        <Fields fields={fields} values={draft.values} stored={stored} problems={problems} at="config" onChange={(values) => set({ values })} />
        <Title order={3} size="h4" mt="xs">
          What is forwarded
        </Title>
        <Choices draft={draft} problems={problems} onSet={set} isNew={stored === undefined} />
        <FilterEditor words={words} rules={draft.rules} problems={problems} onChange={(rules) => set({ rules })} onProblem={setBadJson} />
        <Problem error={Object.keys(refused).length === 0 ? refusal : null} />
        {homeless.length > 0 && (
          <Alert color="red" role="alert">
            <List size="sm">
              {homeless.map((line) => (
                <List.Item key={line}>{line}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Group justify="flex-end">
          <NotSaved when={Object.keys(problems).length > homeless.length} />
          <Button type="submit" loading={busy} disabled={!canSubmit}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ChoicesProps {
  readonly draft: Draft
  readonly problems: Problems
  readonly isNew: boolean
  readonly onSet: (part: Partial<Draft>) => void
}

const BROADCAST_LABELS: readonly (readonly [Broadcast, string, string])[] = [
  ['broadcast_generation_cost', 'Cost details', 'What was charged, and what the provider reported.'],
  ['broadcast_generation_identity', 'Identity', 'Key, user, session, origin and ids of the request.'],
  ['broadcast_generation_request_context', 'Request context', 'Requested model, timings, finish reasons, native tokens and answers of providers.'],
]

/** The fields that every type has. */
function Choices({ draft, problems, isNew, onSet }: ChoicesProps): ReactNode {
  return (
    <>
      {isNew && (
        <WorkspaceChoice
          workspace={draft.workspace}
          problem={problemAt(problems, 'workspace_id')}
          onSet={(workspace) => onSet({ workspace, keys: [] })}
        />
      )}
      <Switch
        label="Enabled"
        description="Calls that finish while it is disabled are never forwarded."
        checked={draft.enabled}
        onChange={({ currentTarget }) => onSet({ enabled: currentTarget.checked })}
      />
      <TextInput
        label="Sampling (%)"
        description="Percentage of sessions to forward, 0.01 to 100. Each session is forwarded completely or not at all."
        inputMode="decimal"
        value={draft.sampling}
        error={problemAt(problems, 'sampling_rate')}
        onChange={({ currentTarget }) => onSet({ sampling: currentTarget.value })}
      />
      <Switch
        label="Privacy mode"
        description="Prompts and answers are not sent. Tokens, costs, times, model and ids are."
        checked={draft.privacy}
        error={problemAt(problems, 'privacy_mode')}
        onChange={({ currentTarget }) => onSet({ privacy: currentTarget.checked })}
      />
      {BROADCAST_LABELS.map(([flag, label, description]) => (
        <Switch
          key={flag}
          label={label}
          description={description}
          checked={draft.broadcasts[flag]}
          onChange={({ currentTarget }) => onSet({ broadcasts: { ...draft.broadcasts, [flag]: currentTarget.checked } })}
        />
      ))}
      <KeyPicker
        label="Keys"
        description="Forward only calls of these keys. Leave empty for all keys."
        workspaceId={draft.workspace ?? ''}
        value={draft.keys}
        onChange={(keys) => onSet({ keys })}
        error={problemAt(problems, 'api_key_hashes')}
      />
    </>
  )
}

interface WorkspaceChoiceProps {
  readonly workspace: string | undefined
  readonly problem: string | undefined
  readonly onSet: (workspace: string | undefined) => void
}

/** Hidden if there is only one workspace. */
function WorkspaceChoice({ workspace, problem, onSet }: WorkspaceChoiceProps): ReactNode {
  const { workspaces } = useWorkspaces()
  if (workspaces.length < 2 && problem === undefined) return null
  return (
    <Select
      label="Workspace"
      description="The workspace whose calls are forwarded. This cannot be changed later."
      placeholder="Workspace of your key"
      searchable
      limit={MOST_OPTIONS}
      clearable
      data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
      value={workspace ?? null}
      error={problem}
      onChange={(chosen) => onSet(chosen ?? undefined)}
    />
  )
}
