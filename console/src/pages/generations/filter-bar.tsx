import { Button, Group, Select, Switch, TextInput } from '@mantine/core'
import { useState, type KeyboardEvent, type ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { usePages } from '../../api/pages.ts'
import { useWorkspaces } from '../../api/workspaces.ts'
import { isoOf, localOf } from '../../lib/local-time.ts'
import { LateInput } from '../../ui/late-input.tsx'
import { MOST_OPTIONS } from '../../ui/most-options.ts'
import { BETWEEN, SPANS, STATUSES, type Filters } from './filters.ts'

export interface FilterBarProps {
  readonly filters: Filters
  readonly onChange: (changes: { readonly [K in keyof Filters]?: string | undefined }) => void
  readonly onClear: () => void
  readonly isLive: boolean
  readonly isPaused: boolean
  readonly onLive: (live: boolean) => void
  /** Called with the id of a call to open. */
  readonly onId: (id: string) => void
}

const WIDTH = 170
const text = { w: WIDTH, size: 'xs', placeholder: 'Any' } as const

export function FilterBar({ filters, onChange, onClear, isLive, isPaused, onLive, onId }: FilterBarProps): ReactNode {
  const { workspaces: spaces } = useWorkspaces()
  // Keys of the chosen workspace; the gateway lists one workspace at a time.
  const keys = usePages('GET /api/v1/keys', { query: { include_disabled: 'true', workspace_id: filters.workspace_id } }, { all: true })
  const providers = useRead('GET /api/v1/providers')
  const select = (name: keyof Filters, label: string, data: readonly { readonly value: string; readonly label: string }[]): ReactNode => (
    <Select
      label={label}
      w={WIDTH}
      size="xs"
      data={withChosen(data, filters[name])}
      value={filters[name] ?? null}
      onChange={(value) => onChange({ [name]: value ?? undefined, ...(name === 'span' ? { from: undefined, to: undefined } : {}) })}
      placeholder="Any"
      clearable
      searchable={data.length > 8}
      limit={MOST_OPTIONS}
    />
  )
  return (
    <Group gap="xs" align="flex-end">
      {select(
        'status',
        'Status',
        STATUSES.map((value) => ({ value, label: value })),
      )}
      {select('span', 'Time', [...SPANS, BETWEEN])}
      {filters.span === BETWEEN.value && (
        <>
          <Moment label="From" value={filters.from} onChange={(iso) => onChange({ from: iso })} />
          <Moment label="To" value={filters.to} onChange={(iso) => onChange({ to: iso })} />
        </>
      )}
      <LateInput {...text} label="Model" value={filters.model ?? ''} onSettled={(value) => onChange({ model: value })} />
      {select(
        'provider',
        'Provider',
        (providers.data?.data ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
      )}
      {select(
        'api_key_hash',
        'Key',
        (keys.of.data ?? []).map(({ hash, name }) => ({ value: hash, label: name })),
      )}
      {spaces.length > 1 &&
        select(
          'workspace_id',
          'Workspace',
          spaces.map(({ id, name }) => ({ value: id, label: name })),
        )}
      <LateInput {...text} label="Session" value={filters.session_id ?? ''} onSettled={(value) => onChange({ session_id: value })} />
      <LateInput {...text} label="Error type" value={filters.error_type ?? ''} onSettled={(value) => onChange({ error_type: value })} />
      <IdField onId={onId} />
      {Object.keys(filters).length > 0 && (
        <Button size="xs" variant="subtle" onClick={onClear}>
          Clear
        </Button>
      )}
      <Switch
        label={isPaused ? 'Live (paused while older records are shown)' : 'Live'}
        checked={isLive}
        onChange={(event) => onLive(event.currentTarget.checked)}
        size="sm"
        mb={6}
      />
    </Group>
  )
}

/** Programs and logs have the ids of their calls. A filter it is not: there is one such call at most, and it opens. */
function IdField({ onId }: Pick<FilterBarProps, 'onId'>): ReactNode {
  const [id, setId] = useState('')
  const open = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && id.trim() !== '') onId(id.trim())
  }
  return (
    <TextInput
      {...text}
      label="Id"
      placeholder="gen-…, then Enter"
      value={id}
      onChange={({ currentTarget }) => setId(currentTarget.value)}
      onKeyDown={open}
      spellCheck={false}
    />
  )
}

interface MomentProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (iso: string | undefined) => void
}

/** In the reader's time zone, like all times of the list. */
const Moment = ({ label, value, onChange }: MomentProps): ReactNode => (
  <TextInput
    type="datetime-local"
    label={label}
    w={200}
    size="xs"
    value={localOf(value)}
    onChange={(event) => onChange(isoOf(event.currentTarget.value))}
  />
)

/** The URL may contain a value that the list does not contain, or not yet. */
const withChosen = (
  data: readonly { readonly value: string; readonly label: string }[],
  chosen: string | undefined,
): { readonly value: string; readonly label: string }[] =>
  chosen === undefined || data.some(({ value }) => value === chosen) ? [...data] : [...data, { value: chosen, label: chosen }]
