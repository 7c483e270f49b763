import { Paper, Table, Text, type ScrollAreaProps } from '@mantine/core'
import type { KeyboardEvent, ReactNode } from 'react'
import classes from './data-table.module.css'

export interface Column<T> {
  readonly header: string
  readonly cell: (row: T) => ReactNode
  /** Figures are right-aligned. */
  readonly isFigure?: boolean
}

export interface DataTableProps<T> {
  /** Describes the table for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** Makes rows open something, by mouse and by keyboard. */
  readonly onOpen?: (row: T) => void
  /** Shown instead of an empty table. */
  readonly empty: ReactNode
}

export function DataTable<T>({ label, columns, rows, keyOf, onOpen, empty }: DataTableProps<T>): ReactNode {
  if (rows.length === 0) {
    return (
      <Paper withBorder p="xl">
        <Text c="dimmed" ta="center" size="sm" component="div">
          {empty}
        </Text>
      </Paper>
    )
  }
  return (
    <Paper withBorder className={classes['frame']}>
      <Table.ScrollContainer minWidth={640} scrollAreaProps={onOpen === undefined ? scrolledByKeys(label) : {}}>
        <Table aria-label={label} highlightOnHover={onOpen !== undefined} verticalSpacing={7} horizontalSpacing={8} fz="sm">
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ header, isFigure }) => (
                <Table.Th key={header} ta={isFigure === true ? 'right' : undefined}>
                  {header}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={keyOf(row)} {...opening(row, onOpen)}>
                {columns.map(({ header, cell, isFigure }) => (
                  <Table.Td key={header} className={isFigure === true ? classes['figure'] : undefined}>
                    {cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

/** If no row is focusable, the keyboard could not scroll to what is outside of a narrow window. */
const scrolledByKeys = (label: string): ScrollAreaProps => ({ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': `${label}, to scroll` } })

function opening<T>(row: T, onOpen: ((row: T) => void) | undefined): object {
  if (onOpen === undefined) return {}
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target === event.currentTarget && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault()
      onOpen(row)
    }
  }
  return { tabIndex: 0, onClick: () => onOpen(row), onKeyDown, className: classes['opens'] }
}
