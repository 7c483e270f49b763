import { Autocomplete, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/client.ts'
import { priceOf } from './price.ts'

type Model = Answer<'GET /api/v1/models'>['data'][number]

export interface ModelFieldProps {
  readonly models: readonly Model[]
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (model: string) => void
  /** Called when the user chose a model or left the field. */
  readonly onSettled: (model: string) => void
}

/** A model by its slug. Any text is accepted, because the list does not contain the names of routers and presets. */
export function ModelField({ models, value, error, onChange, onSettled }: ModelFieldProps): ReactNode {
  const byId = new Map(models.map((model) => [model.id, model]))
  return (
    <Autocomplete
      label="Model"
      placeholder="Search, or type a name"
      data={[...byId.keys()]}
      limit={100}
      maxDropdownHeight={360}
      value={value}
      error={error}
      onChange={onChange}
      onOptionSubmit={onSettled}
      onBlur={() => onSettled(value)}
      renderOption={({ option }) => <Option id={option.value} model={byId.get(option.value)} />}
    />
  )
}

function Option({ id, model }: { readonly id: string; readonly model: Model | undefined }): ReactNode {
  return (
    <Group justify="space-between" gap="xs" flex={1}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {id}
      </Text>
      <Text size="xs" c="dimmed">
        {model === undefined ? '' : priceOf(model.pricing)}
      </Text>
    </Group>
  )
}
