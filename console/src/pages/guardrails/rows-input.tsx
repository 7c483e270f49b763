import { Button, Group, Input, Paper, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Row } from './form.ts'
import type { Column, RuleField } from './rule-schema.ts'

export interface RowsInputProps {
  readonly field: RuleField
  readonly rows: readonly Row[]
  readonly error: string | undefined
  readonly onChange: (rows: readonly Row[]) => void
}

/** A list of small objects; empty members are not sent. */
export function RowsInput({ field: { label, description, columns }, rows, error, onChange }: RowsInputProps): ReactNode {
  const first = Object.fromEntries(
    columns.flatMap(({ name, choices, isNeeded }) => (isNeeded && choices?.[0] !== undefined ? [[name, choices[0]]] : [])),
  )
  return (
    <Stack gap="xs" component="section" aria-label={label}>
      <Group justify="space-between" wrap="nowrap">
        <div>
          <Input.Label>{label}</Input.Label>
          {description !== undefined && <Input.Description>{description}</Input.Description>}
        </div>
        <Button size="xs" variant="default" flex="none" aria-label={`Add to ${label}`} onClick={() => onChange([...rows, first])}>
          Add
        </Button>
      </Group>
      {rows.map((row, index) => (
        <Paper withBorder p="xs" key={`${index}`}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs">
            {columns.map((column) => (
              <Cell
                key={column.name}
                column={column}
                value={row[column.name] ?? ''}
                onChange={(value) => onChange(rows.map((one, place) => (place === index ? { ...one, [column.name]: value } : one)))}
              />
            ))}
          </SimpleGrid>
          <Group justify="flex-end" mt={6}>
            <Button
              size="compact-xs"
              variant="subtle"
              color="red"
              aria-label={`Remove ${label} ${index + 1}`}
              onClick={() => onChange(rows.filter((_one, place) => place !== index))}
            >
              Remove
            </Button>
          </Group>
        </Paper>
      ))}
      {error !== undefined && <Input.Error>{error}</Input.Error>}
    </Stack>
  )
}

interface CellProps {
  readonly column: Column
  readonly value: string
  readonly onChange: (value: string) => void
}

function Cell({ column: { label, choices, isNeeded }, value, onChange }: CellProps): ReactNode {
  if (choices === undefined) return <TextInput size="xs" label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)} />
  return (
    <Select
      size="xs"
      label={label}
      data={[...choices]}
      clearable={!isNeeded}
      allowDeselect={!isNeeded}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? '')}
      placeholder={isNeeded ? undefined : 'not set'}
    />
  )
}
