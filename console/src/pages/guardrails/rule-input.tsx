import { Group, Input, JsonInput, NumberInput, SegmentedControl, Select, Switch, TagsInput } from '@mantine/core'
import { memo, useId, type ReactNode } from 'react'
import { SEPARATORS } from '../../ui/separators.ts'
import type { Row } from './form.ts'
import type { RuleField } from './rule-schema.ts'
import { RowsInput } from './rows-input.tsx'

export interface RuleInputProps {
  readonly field: RuleField
  readonly value: unknown
  readonly error: string | undefined
  /** Suggestions for a list; any other text is accepted as well. */
  readonly suggestions: readonly string[]
  /** Must be the same function in every render, so that a keystroke in one of twenty rules does not render the whole form. */
  readonly onRule: (name: string, value: unknown) => void
}

/** The control for one rule, by the kind of its value. */
export const RuleInput = memo(function RuleInput({ field, value, error, suggestions, onRule }: RuleInputProps): ReactNode {
  const onChange = (next: unknown): void => onRule(field.name, next)
  const { kind, label, description, choices } = field
  const common = { label, description, error }
  switch (kind) {
    case 'names':
      return (
        <TagsInput
          {...common}
          data={[...suggestions]}
          limit={50}
          clearable
          value={value as string[]}
          onChange={onChange}
          splitChars={SEPARATORS}
          placeholder="Type and press Enter"
        />
      )
    case 'flag':
      return <Flag {...common} value={value as boolean | null} onChange={onChange} />
    case 'switch':
      return <Switch {...common} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
    case 'number':
      return <NumberInput {...common} min={0} value={value as number | string} onChange={onChange} placeholder="none" />
    case 'choice':
      return <Select {...common} data={[...choices]} clearable value={value as string | null} onChange={onChange} placeholder="not set" />
    case 'rows':
      return <RowsInput field={field} rows={value as readonly Row[]} error={error} onChange={onChange} />
    case 'json':
      return <JsonInput {...common} label={`${label} (JSON)`} autosize minRows={2} value={value as string} onChange={onChange} />
  }
})

interface FlagProps {
  readonly label: string
  readonly description: string | undefined
  readonly error: string | undefined
  readonly value: boolean | null
  readonly onChange: (value: boolean | null) => void
}

const NAMES = { unset: null, yes: true, no: false } as const

/** Yes, no, or not set, which differs from no. */
function Flag({ label, description, error, value, onChange }: FlagProps): ReactNode {
  const id = useId()
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Input.Label id={id}>{label}</Input.Label>
        <SegmentedControl
          size="xs"
          flex="none"
          role="radiogroup"
          aria-labelledby={id}
          data={[
            { value: 'unset', label: 'Not set' },
            { value: 'yes', label: 'Yes' },
            { value: 'no', label: 'No' },
          ]}
          value={value === null ? 'unset' : value ? 'yes' : 'no'}
          onChange={(next) => onChange(NAMES[next])}
        />
      </Group>
      {description !== undefined && <Input.Description>{description}</Input.Description>}
      {error !== undefined && <Input.Error>{error}</Input.Error>}
    </div>
  )
}
