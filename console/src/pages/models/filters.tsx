import { Button, Collapse, Group, MultiSelect, Select, SimpleGrid, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { LateInput } from '../../ui/late-input.tsx'
import type { Address } from '../../ui/address.ts'
import { ABILITIES, CONTEXTS, FILTERS, INPUTS, isAmount, OUTPUTS, SORTS } from './query.ts'

export interface FiltersProps {
  readonly address: Address
}

const RARE = ['input', 'output', 'supports', 'context', 'max_price', 'max_output_price'] as const

/** Filters and order of the list. They are part of the URL, and the gateway applies them. */
export function Filters({ address }: FiltersProps): ReactNode {
  const { get } = address
  const rare = RARE.filter((name) => get(name) !== undefined).length
  const [opened, { toggle }] = useDisclosure(rare > 0)
  const providers = useRead('GET /api/v1/providers')
  const set = (name: string) => (value: string | null) => address.set({ [name]: value ?? undefined, page: undefined })
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <LateInput
          label="Search"
          placeholder="Name or slug"
          size="xs"
          flex={{ base: '1 0 100%', sm: 1 }}
          value={get('q') ?? ''}
          onSettled={set('q')}
        />
        <Select
          label="Provider"
          placeholder="Any"
          size="xs"
          flex={{ base: 1, sm: 'none' }}
          clearable
          searchable
          value={get('provider') ?? null}
          onChange={set('provider')}
          data={(providers.data?.data ?? []).map(({ slug, name }) => ({ value: slug, label: name }))}
          nothingFoundMessage="No match"
        />
        <Select
          label="Sort"
          placeholder="As in the catalog"
          size="xs"
          flex={{ base: 1, sm: 'none' }}
          clearable
          value={get('sort') ?? null}
          onChange={set('sort')}
          data={[...SORTS]}
        />
        <Button size="xs" variant="default" onClick={toggle} aria-expanded={opened}>
          {rare === 0 ? 'More filters' : `More filters (${rare})`}
        </Button>
        {FILTERS.some((name) => get(name) !== undefined) && (
          <Button
            size="xs"
            variant="subtle"
            onClick={() => address.set({ ...Object.fromEntries(FILTERS.map((name) => [name, undefined])), page: undefined })}
          >
            Clear
          </Button>
        )}
      </Group>
      <Collapse expanded={opened}>
        <RareFilters address={address} set={set} />
      </Collapse>
    </Stack>
  )
}

interface RareProps extends FiltersProps {
  readonly set: (name: string) => (value: string | null) => void
}

function RareFilters({ address: { get }, set }: RareProps): ReactNode {
  const select = { placeholder: 'Any', size: 'xs', clearable: true } as const
  const problemOf = (name: string): string | undefined => (isAmount(get(name) ?? '0') ? undefined : 'Enter an amount such as 0.5')
  const abilities = get('supports')
    ?.split(',')
    .filter((name) => name !== '')
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm" verticalSpacing="xs">
      <Select {...select} label="Input type" value={get('input') ?? null} onChange={set('input')} data={[...INPUTS]} />
      <Select {...select} label="Output type" value={get('output') ?? null} onChange={set('output')} data={[...OUTPUTS]} />
      <MultiSelect
        {...select}
        label="Supports"
        placeholder={abilities === undefined ? 'Anything' : ''}
        value={abilities ?? []}
        onChange={(names) => set('supports')(names.join(','))}
        data={ABILITIES.map(({ value, label }) => ({ value, label }))}
      />
      <Select {...select} label="Context" value={get('context') ?? null} onChange={set('context')} data={[...CONTEXTS]} />
      <LateInput
        label="Input price up to"
        placeholder="USD / 1M tokens"
        size="xs"
        inputMode="decimal"
        value={get('max_price') ?? ''}
        onSettled={set('max_price')}
        error={problemOf('max_price')}
      />
      <LateInput
        label="Output price up to"
        placeholder="USD / 1M tokens"
        size="xs"
        inputMode="decimal"
        value={get('max_output_price') ?? ''}
        onSettled={set('max_output_price')}
        error={problemOf('max_output_price')}
      />
    </SimpleGrid>
  )
}
