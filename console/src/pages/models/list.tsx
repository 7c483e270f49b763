import { Badge, Button, Group, Pagination, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/client.ts'
import { count, NOTHING, short } from '../../lib/format.ts'
import { perMillion, priceShown } from '../../lib/price.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import type { Address } from '../../ui/address.ts'
import { ABILITIES, PAGE, pageOf } from './query.ts'

type Models = Answer<'GET /api/v1/models'>
type Model = Models['data'][number]

export interface ListProps {
  readonly models: Models
  readonly address: Address
}

/** One page of the models. */
export function List({ models, address }: ListProps): ReactNode {
  const { data, total_count: all } = models
  const page = pageOf(address.get)
  const first = (page - 1) * PAGE
  return (
    <Stack gap="sm">
      <DataTable
        label="Models"
        rows={data}
        keyOf={({ id }) => id}
        onOpen={({ id }) => address.set({ model: id }, 'push')}
        columns={COLUMNS}
        empty={all === 0 ? 'No models match these filters.' : <BeyondTheEnd onBack={() => address.set({ page: undefined })} />}
      />
      {data.length > 0 && (
        <Group justify="space-between" gap="sm">
          <Text size="xs" c="dimmed" component="output">
            {`${count(first + 1)} to ${count(first + data.length)} of ${count(all)} models`}
          </Text>
          {all > PAGE && (
            <Pagination
              size="sm"
              aria-label="Pages"
              total={Math.ceil(all / PAGE)}
              value={page}
              onChange={(next) => address.set({ page: next === 1 ? undefined : String(next) }, 'push')}
              getItemProps={(number) => ({ 'aria-label': `Page ${number}` })}
              getControlProps={(control) => ({ 'aria-label': `${control} page` })}
            />
          )}
        </Group>
      )}
    </Stack>
  )
}

function BeyondTheEnd({ onBack }: { readonly onBack: () => void }): ReactNode {
  return (
    <Stack align="center" gap="sm">
      This page does not exist.
      <Button size="xs" variant="default" onClick={onBack}>
        Show the first
      </Button>
    </Stack>
  )
}

const COLUMNS: readonly Column<Model>[] = [
  { header: 'Model', cell: nameCell },
  { header: 'Context', cell: ({ context_length: length }) => short(length), isFigure: true },
  { header: 'Input / 1M', cell: ({ pricing }) => priceShown(perMillion(pricing.prompt)), isFigure: true },
  { header: 'Output / 1M', cell: ({ pricing }) => priceShown(perMillion(pricing.completion)), isFigure: true },
  { header: 'Input types', cell: ({ architecture }) => architecture.input_modalities.join(', ') || NOTHING },
  { header: 'Output types', cell: ({ architecture }) => architecture.output_modalities.join(', ') || NOTHING },
  { header: 'Supports', cell: abilitiesCell },
]

function nameCell({ id, name, alias_target: target }: Model): ReactNode {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={500}>
        {name}
      </Text>
      <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {target === undefined ? id : `${id} → ${target.slug}`}
      </Text>
    </Stack>
  )
}

function abilitiesCell({ supported_parameters: has }: Model): ReactNode {
  return (
    <Group gap={4}>
      {ABILITIES.filter(({ value }) => has.includes(value)).map(({ value, brief }) => (
        <Badge key={value} size="sm" variant="default">
          {brief}
        </Badge>
      ))}
    </Group>
  )
}
