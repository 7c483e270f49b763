import { Button, Fieldset, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { useCallback, useMemo, useState, type Dispatch, type FormEvent, type ReactNode, type SetStateAction } from 'react'
import { ApiError } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { isChanged } from '../../lib/changes.ts'
import { focusFirstInvalid, useFocusAfterSending } from '../../ui/first-invalid.ts'
import { NotSaved } from '../../ui/not-saved.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useUnsaved } from '../../ui/unsaved.tsx'
import { fieldOfPath, problemsOf, type GuardrailForm } from './form.ts'
import { RuleInput } from './rule-input.tsx'
import type { RuleField, RuleKind } from './rule-schema.ts'

export interface RulesFormProps {
  readonly fields: readonly RuleField[]
  /** The values before anything was typed. */
  readonly initial: GuardrailForm
  readonly form: GuardrailForm
  /** A state setter, which is the same function in every render. */
  readonly onForm: Dispatch<SetStateAction<GuardrailForm>>
  readonly action: string
  readonly isBusy: boolean
  readonly error: Error | null
  readonly onSubmit: () => void
  /** Fields that only a new guardrail has. */
  readonly children?: ReactNode
}

const SECTIONS: readonly { readonly title: string; readonly kinds: readonly RuleKind[] }[] = [
  { title: 'Models and providers', kinds: ['names'] },
  { title: 'Spending', kinds: ['number', 'choice', 'switch'] },
  { title: 'Text checks', kinds: ['rows'] },
  { title: 'Data', kinds: ['flag'] },
  { title: 'More', kinds: ['json'] },
]

/** All rules of a guardrail. */
export function RulesForm(props: RulesFormProps): ReactNode {
  const { fields, initial, form, onForm, action, isBusy, error, onSubmit, children } = props
  const [isTried, setTried] = useState(false)
  const element = useFocusAfterSending(isBusy)
  useUnsaved(isChanged(initial, form))
  const suggestions = useSuggestions()
  const refused = error instanceof ApiError ? fieldOfPath(error.path) : ''
  const isShownAtField = refused === 'name' || refused === 'description' || fields.some(({ name }) => name === refused)
  const problems = problemsOf(fields, form)
  const problemOf = (name: string): string | undefined => (isTried ? problems[name] : undefined) ?? (name === refused ? error?.message : undefined)
  const onRule = useCallback((name: string, value: unknown): void => onForm((now) => ({ ...now, rules: { ...now.rules, [name]: value } })), [onForm])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const isRight = Object.keys(problems).length === 0
    setTried(!isRight)
    if (isRight) onSubmit()
    else setTimeout(() => focusFirstInvalid(element.current))
  }
  return (
    <form onSubmit={submit} ref={element} noValidate>
      <Stack gap="md">
        <TextInput
          label="Name"
          required
          value={form.name}
          error={problemOf('name')}
          onChange={(event) => onForm({ ...form, name: event.currentTarget.value })}
        />
        <Textarea
          label="Description"
          autosize
          maxRows={4}
          value={form.description}
          error={problemOf('description')}
          onChange={(event) => onForm({ ...form, description: event.currentTarget.value })}
        />
        {children}
        {SECTIONS.map(({ title, kinds }) => {
          const own = fields.filter(({ kind }) => kinds.includes(kind))
          if (own.length === 0) return null
          return (
            <Fieldset key={title} legend={title}>
              <Stack gap="sm">
                {own.map((field) => (
                  <RuleInput
                    key={field.name}
                    field={field}
                    value={form.rules[field.name]}
                    error={problemOf(field.name)}
                    suggestions={suggestions(field.name)}
                    onRule={onRule}
                  />
                ))}
              </Stack>
            </Fieldset>
          )
        })}
        <Problem error={isShownAtField ? null : error} />
        <Group justify="flex-end">
          <NotSaved when={isShownAtField || (isTried && Object.keys(problems).length > 0)} />
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const NO_NAMES: readonly string[] = []

/** Suggestions for lists whose names say what they contain. */
function useSuggestions(): (field: string) => readonly string[] {
  const models = useRead('GET /api/v1/models', { query: { output_modalities: 'all' } }).data
  const providers = useRead('GET /api/v1/providers', {}).data
  const slugs = useMemo(() => [...new Set(models?.data.map(({ id }) => id))], [models])
  const names = useMemo(() => [...new Set(providers?.data.map(({ slug }) => slug))], [providers])
  return (field) => (field.endsWith('_models') ? slugs : field.endsWith('_providers') ? names : NO_NAMES)
}
