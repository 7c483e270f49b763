import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export interface FactsProps {
  readonly label: string
  /** Names and values; null and undefined are left out. */
  readonly of: readonly (readonly [string, ReactNode])[]
}

/** A table of names and values. */
export function Facts({ label, of }: FactsProps): ReactNode {
  return (
    <Table aria-label={label} fz="sm" verticalSpacing={4} withRowBorders={false}>
      <Table.Tbody>
        {of
          .filter(([, value]) => value !== null && value !== undefined)
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th c="dimmed" fw={500} w={180} scope="row">
                {name}
              </Table.Th>
              <Table.Td style={{ wordBreak: 'break-word' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  )
}
