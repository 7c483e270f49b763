import { Button, Fieldset, Group, Select, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { SecretInput } from '../../ui/secret-input.tsx'
import { Help } from './help.tsx'
import { MapControl } from './map-control.tsx'
import { problemAt } from './problems.ts'
import type { Field } from './schema-fields.ts'
import type { Json, MapRow, Problems, Value, Values } from './values.ts'

export interface FieldsProps {
  readonly fields: readonly Field[]
  readonly values: Values
  /** The stored settings as the gateway shows them, with secrets masked. Absent: nothing is stored yet. */
  readonly stored?: Json | undefined
  readonly problems: Problems
  /** The path of the settings in the body: `config`. */
  readonly at: string
  readonly onChange: (values: Values) => void
}

/** A control for each setting of a type, made from the schema alone. */
export function Fields({ fields, values, stored, problems, at, onChange }: FieldsProps): ReactNode {
  return fields.map((field) => (
    <FieldControl
      key={field.name}
      field={field}
      value={values[field.name]}
      stored={stored?.[field.name]}
      problems={problems}
      path={`${at}.${field.name}`}
      onChange={(value) => onChange({ ...values, [field.name]: value })}
    />
  ))
}

interface ControlProps {
  readonly field: Field
  readonly value: Value
  readonly stored: unknown
  readonly problems: Problems
  readonly path: string
  readonly onChange: (value: Value) => void
}

function FieldControl(props: ControlProps): ReactNode {
  const { field, value, stored, problems, path, onChange } = props
  const label = field.label
  const description = field.help === undefined ? undefined : <Help text={field.help} />
  switch (field.kind) {
    case 'switch':
      return (
        <Switch
          label={label}
          description={description}
          checked={typeof value === 'boolean' ? value : field.fallback === true}
          error={problemAt(problems, path)}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )
    case 'map':
      return (
        <MapControl
          label={label}
          description={description}
          isSecret={field.isSecret}
          rows={(value ?? []) as readonly MapRow[]}
          problems={problems}
          path={path}
          onChange={onChange}
        />
      )
    case 'group':
      return (
        <Fieldset legend={label}>
          <Stack gap="sm">
            {description !== undefined && (
              <Text size="xs" c="dimmed">
                {description}
              </Text>
            )}
            <Fields
              fields={field.fields}
              values={(value ?? {}) as Values}
              stored={typeof stored === 'object' && stored !== null ? (stored as Json) : undefined}
              problems={problems}
              at={path}
              onChange={onChange}
            />
          </Stack>
        </Fieldset>
      )
    case 'secret':
      return <SecretControl {...props} />
    default:
      return <TextControl {...props} />
  }
}

/** Any setting that is typed as text. An empty text leaves the setting to the gateway. */
function TextControl({ field, value, problems, path, onChange }: ControlProps): ReactNode {
  const text = typeof value === 'string' ? value : ''
  const common = {
    label: field.label,
    description: field.help === undefined ? undefined : <Help text={field.help} />,
    withAsterisk: field.required,
    'aria-required': field.required,
    error: problemAt(problems, path),
    placeholder: placeholderOf(field),
    value: text,
  }
  if (field.kind === 'choice')
    return (
      <Select
        {...common}
        data={[...field.options]}
        value={text === '' ? null : text}
        clearable={!field.required}
        onChange={(chosen) => onChange(chosen ?? '')}
      />
    )
  const onText = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void => onChange(currentTarget.value)
  if (field.kind === 'list' || field.kind === 'json')
    return (
      <Textarea
        {...common}
        autosize
        minRows={2}
        maxRows={14}
        spellCheck={false}
        ff={field.kind === 'json' ? 'monospace' : undefined}
        onChange={onText}
      />
    )
  return <TextInput {...common} inputMode={field.kind === 'number' ? 'decimal' : undefined} spellCheck={false} autoComplete="off" onChange={onText} />
}

function placeholderOf({ kind, fallback }: Field): string | undefined {
  if (fallback !== undefined) return typeof fallback === 'string' ? fallback : JSON.stringify(fallback)
  if (kind === 'list') return 'One entry per line'
  return kind === 'json' ? 'JSON' : undefined
}

/** A secret is typed anew or left as it is, because the gateway never returns it. */
function SecretControl({ field, value, stored, problems, path, onChange }: ControlProps): ReactNode {
  const isKept = typeof stored === 'string' && stored !== ''
  const isRemoved = value === null
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <SecretInput
        flex={1}
        label={field.label}
        description={field.help === undefined ? undefined : <Help text={field.help} />}
        withAsterisk={field.required}
        aria-required={field.required && !isKept}
        error={problemAt(problems, path)}
        placeholder={isRemoved ? 'Will be removed' : isKept ? `${stored} is kept unless you enter a new value` : undefined}
        value={typeof value === 'string' ? value : ''}
        autoComplete="new-password"
        spellCheck={false}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {isKept && !field.required && (
        <Button variant="default" onClick={() => onChange(isRemoved ? '' : null)} aria-label={`${isRemoved ? 'Keep' : 'Remove'} ${field.label}`}>
          {isRemoved ? 'Keep' : 'Remove'}
        </Button>
      )}
    </Group>
  )
}
