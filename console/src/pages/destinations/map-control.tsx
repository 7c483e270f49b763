import { Button, CloseButton, Fieldset, Group, Input, Stack, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { SecretInput } from '../../ui/secret-input.tsx'
import { problemAt } from './problems.ts'
import type { MapRow, Problems } from './values.ts'

export interface MapControlProps {
  readonly label: string
  readonly description: ReactNode
  readonly isSecret: boolean
  readonly rows: readonly MapRow[]
  readonly problems: Problems
  readonly path: string
  readonly onChange: (rows: readonly MapRow[]) => void
}

/** Names with values, such as headers. The name of a stored value cannot be changed, because the gateway finds the value by it. */
export function MapControl({ label, description, isSecret, rows, problems, path, onChange }: MapControlProps): ReactNode {
  const set = (at: number, part: Partial<MapRow>): void => onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  const ofRows = new Set(rows.map(({ name }) => `${path}.${name.trim()}`))
  const rest = Object.fromEntries(Object.entries(problems).filter(([key]) => !ofRows.has(key)))
  return (
    <Input.Wrapper label={label} description={description} error={problemAt(rest, path)} labelElement="div">
      <Fieldset variant="unstyled" mt={6} mx={0} p={0} aria-label={label}>
        <Stack gap={6}>
          {rows.map((row, at) => (
            // Rows have no identity but their position, and every input is controlled.
            <MapRowControl
              key={at}
              label={label}
              number={at + 1}
              row={row}
              isSecret={isSecret}
              problem={problemOf(problems, path, row)}
              onSet={(part) => set(at, part)}
              onRemove={() => onChange(rows.filter((_row, index) => index !== at))}
            />
          ))}
          <Group>
            <Button size="xs" variant="default" onClick={() => onChange([...rows, { name: '', value: '' }])}>
              Add to {label.toLowerCase()}
            </Button>
          </Group>
        </Stack>
      </Fieldset>
    </Input.Wrapper>
  )
}

/** The problem of a row, if the row's name identifies it; a missing name is reported below all rows. */
const problemOf = (problems: Problems, path: string, { name, value }: MapRow): string | boolean | undefined =>
  name.trim() === '' ? value !== '' && problems[path] !== undefined : problems[`${path}.${name.trim()}`]

interface RowProps {
  readonly label: string
  readonly number: number
  readonly row: MapRow
  readonly isSecret: boolean
  readonly problem: string | boolean | undefined
  readonly onSet: (part: Partial<MapRow>) => void
  readonly onRemove: () => void
}

function MapRowControl({ label, number, row, isSecret, problem, onSet, onRemove }: RowProps): ReactNode {
  const value = {
    'aria-label': `${label}: value ${number}`,
    placeholder: row.kept === undefined ? 'Value' : `${row.kept} is kept`,
    value: row.value,
    flex: 2,
    autoComplete: isSecret ? 'new-password' : 'off',
    spellCheck: false,
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onSet({ value: currentTarget.value }),
  }
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <TextInput
        flex={1}
        miw={90}
        aria-label={`${label}: name ${number}`}
        placeholder="Name"
        value={row.name}
        readOnly={row.kept !== undefined}
        error={problem}
        autoComplete="off"
        spellCheck={false}
        onChange={({ currentTarget }) => onSet({ name: currentTarget.value })}
      />
      {isSecret ? <SecretInput {...value} /> : <TextInput {...value} />}
      <CloseButton mt={4} aria-label={`${label}: remove ${row.name === '' ? `row ${number}` : row.name}`} onClick={onRemove} />
    </Group>
  )
}
