import { Button, Group, Select, Switch, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { SPANS, STATUSES, type Filters } from './filters.ts'

export interface FilterBarProps {
  readonly filters: Filters
  readonly onChange: (name: keyof Filters, value: string | null) => void
  readonly onClear: () => void
  readonly isLive: boolean
  readonly onLive: (live: boolean) => void
}

const WIDTH = 170

export function FilterBar({ filters, onChange, onClear, isLive, onLive }: FilterBarProps): ReactNode {
  const keys = useRead('GET /api/v1/keys', { query: { include_disabled: 'true' } })
  const workspaces = useRead('GET /api/v1/workspaces')
  const providers = useRead('GET /api/v1/providers')
  const select = (name: keyof Filters, label: string, data: readonly { readonly value: string; readonly label: string }[]): ReactNode => (
    <Select
      label={label}
      w={WIDTH}
      size="xs"
      data={withChosen(data, filters[name])}
      value={filters[name] ?? null}
      onChange={(value) => onChange(name, value)}
      placeholder="Any"
      clearable
      searchable={data.length > 8}
    />
  )
  const spaces = workspaces.data?.data ?? []
  return (
    <Group gap="xs" align="flex-end">
      {select(
        'status',
        'Status',
        STATUSES.map((value) => ({ value, label: value })),
      )}
      {select('span', 'Time', SPANS)}
      <TextFilter label="Model" value={filters.model} onChange={(value) => onChange('model', value)} />
      {select(
        'provider',
        'Provider',
        (providers.data?.data ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
      )}
      {select(
        'api_key_hash',
        'Key',
        (keys.data?.data ?? []).map(({ hash, name }) => ({ value: hash, label: name })),
      )}
      {spaces.length > 1 &&
        select(
          'workspace_id',
          'Workspace',
          spaces.map(({ id, name }) => ({ value: id, label: name })),
        )}
      <TextFilter label="Session" value={filters.session_id} onChange={(value) => onChange('session_id', value)} />
      <TextFilter label="Error type" value={filters.error_type} onChange={(value) => onChange('error_type', value)} />
      {Object.keys(filters).length > 0 && (
        <Button size="xs" variant="subtle" onClick={onClear}>
          Clear
        </Button>
      )}
      <Switch label="Live" checked={isLive} onChange={(event) => onLive(event.currentTarget.checked)} size="sm" mb={6} />
    </Group>
  )
}

/** An address may name what a list does not, or not yet. */
const withChosen = (
  data: readonly { readonly value: string; readonly label: string }[],
  chosen: string | undefined,
): { readonly value: string; readonly label: string }[] =>
  chosen === undefined || data.some(({ value }) => value === chosen) ? [...data] : [...data, { value: chosen, label: chosen }]

const PAUSE_MS = 350

interface TextFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string) => void
}

/** Asks once its writer pauses. */
function TextFilter({ label, value = '', onChange }: TextFilterProps): ReactNode {
  const [text, setText] = useState(value)
  const [shown, setShown] = useState(value)
  const later = useDebouncedCallback(onChange, PAUSE_MS)
  // What changes the address otherwise (the way back, Clear) changes the field.
  if (shown !== value) {
    setShown(value)
    setText(value)
  }
  return (
    <TextInput
      label={label}
      w={WIDTH}
      size="xs"
      value={text}
      placeholder="Any"
      onChange={(event) => {
        setText(event.currentTarget.value)
        later(event.currentTarget.value.trim())
      }}
    />
  )
}
