import { Box, Button, Group, Stack, Text, useComputedColorScheme } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { BarController, BarElement, CategoryScale, Chart, LinearScale, Tooltip, type ChartConfiguration } from 'chart.js'
import { useEffect, useRef, type ReactNode } from 'react'
import { chartColours, type ChartColours } from './chart-colours.ts'
import { DataTable } from './data-table.tsx'

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Tooltip)

export interface BarSeries {
  readonly name: string
  /** One figure for each category. */
  readonly values: readonly number[]
  /** Combines all others, and is grey. */
  readonly isRest?: boolean
}

export interface BarChartProps {
  /** Describes the chart in one sentence, for screen readers and above the table. */
  readonly label: string
  /** The name of a category: `Day`. */
  readonly category: string
  readonly categories: readonly string[]
  /** Stacked in this order, the first at the bottom. */
  readonly series: readonly BarSeries[]
  readonly shown: (value: number) => string
  /** Short form for the axis, where there is little room. */
  readonly brief: (value: number) => string
  /** Shown instead of figures if all values of a category are zero. */
  readonly nothing: string
  readonly height?: number
  /** A shortcut for the mouse: the same must also be possible in another way. */
  readonly onPick?: (category: number) => void
}

/** Stacked bars with a legend; the same figures are available as a table. */
export function BarChart(props: BarChartProps): ReactNode {
  const { label, series, height = 260 } = props
  const colours = chartColours(useComputedColorScheme('light'))
  const [hasTable, { toggle }] = useDisclosure()
  return (
    <Stack gap="sm" component="figure" m={0} aria-label={label}>
      <Box h={height} pos="relative">
        <Canvas {...props} colours={colours} />
      </Box>
      <Group gap="4px 16px" justify="space-between" align="flex-start" wrap="nowrap">
        <Group gap="4px 16px" flex={1} component="ul" m={0} p={0} aria-label="Colours" style={{ listStyle: 'none' }}>
          {series.map((one, place) => (
            <Group key={one.name} component="li" gap={6} wrap="nowrap" miw={0}>
              <Box w={10} h={10} bg={colourOf(one, place, colours)} style={{ borderRadius: 2, flexShrink: 0, forcedColorAdjust: 'none' }} />
              <Text size="xs" style={{ wordBreak: 'break-word' }}>
                {one.name}
              </Text>
            </Group>
          ))}
        </Group>
        <Button size="compact-xs" variant="subtle" flex="none" onClick={toggle} aria-expanded={hasTable}>
          {hasTable ? 'Hide the table' : 'Show as a table'}
        </Button>
      </Group>
      {hasTable && <FiguresTable {...props} />}
    </Stack>
  )
}

const colourOf = ({ isRest }: BarSeries, place: number, colours: ChartColours): string => (isRest === true ? colours.rest : colours.series(place))

function FiguresTable({ label, category, categories, series, shown, nothing }: BarChartProps): ReactNode {
  const isEmpty = (n: number): boolean => series.every(({ values }) => (values[n] ?? 0) === 0)
  return (
    <DataTable
      label={label}
      rows={categories.map((name, n) => ({ name, n }))}
      keyOf={({ n }) => String(n)}
      empty={nothing}
      columns={[
        { header: category, cell: ({ name }) => name },
        ...series.map(({ name, values }, place) => ({
          header: name,
          isFigure: true,
          cell: ({ n }: { readonly n: number }) => (isEmpty(n) ? (place === 0 ? nothing : '') : shown(values[n] ?? 0)),
        })),
      ]}
    />
  )
}

function Canvas(props: BarChartProps & { readonly colours: ChartColours }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const chart = useRef<Chart<'bar', number[]>>(undefined)
  useEffect(() => {
    const { data, options } = configurationOf(props)
    if (chart.current === undefined) {
      chart.current = new Chart(canvas.current!, { type: 'bar', data, options: options ?? {} })
      return
    }
    chart.current.data = data
    chart.current.options = options ?? {}
    chart.current.update()
  })
  useEffect(
    () => () => {
      chart.current?.destroy()
      chart.current = undefined
    },
    [],
  )
  // The figure around it names it, and the table has its content.
  return <canvas ref={canvas} aria-hidden />
}

function configurationOf({ categories, series, shown, brief, nothing, onPick, colours }: BarChartProps & { readonly colours: ChartColours }) {
  const axis = { border: { display: false }, ticks: { color: colours.text, font: { size: 11 } } }
  return {
    data: {
      labels: [...categories],
      datasets: series.map((one, place) => ({
        label: one.name,
        data: [...one.values],
        backgroundColor: colourOf(one, place, colours),
        hoverBackgroundColor: colourOf(one, place, colours),
        // A line in the background colour between two parts of a bar, so that telling them apart does not depend on colour.
        borderColor: colours.ground,
        borderWidth: { top: place === series.length - 1 ? 0 : 1 },
        borderSkipped: false,
        maxBarThickness: 36,
      })),
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      ...(onPick === undefined
        ? {}
        : {
            onClick: (_event, [first]) => {
              if (first !== undefined) onPick(first.index)
            },
            onHover: (_event, found, { canvas }) => {
              canvas.style.cursor = found.length > 0 ? 'pointer' : 'default'
            },
          }),
      scales: {
        x: { ...axis, stacked: true, grid: { display: false }, ticks: { ...axis.ticks, maxRotation: 0, autoSkipPadding: 12 } },
        y: {
          ...axis,
          stacked: true,
          beginAtZero: true,
          grid: { color: colours.grid },
          ticks: { ...axis.ticks, maxTicksLimit: 6, callback: (value) => brief(Number(value)) },
        },
      },
      plugins: {
        tooltip: {
          backgroundColor: '#1a1b1e',
          padding: 10,
          boxPadding: 4,
          multiKeyBackground: '#1a1b1e',
          filter: ({ parsed }) => (parsed.y ?? 0) !== 0,
          itemSort: (a, b) => b.datasetIndex - a.datasetIndex,
          callbacks: {
            label: ({ dataset, parsed }) => ` ${dataset.label ?? ''}  ${shown(parsed.y ?? 0)}`,
            footer: (items) => (items.length === 0 ? nothing : items.length === 1 ? '' : `Total  ${shown(together(items))}`),
          },
        },
      },
    },
  } satisfies Omit<ChartConfiguration<'bar', number[]>, 'type'>
}

const together = (items: readonly { readonly parsed: { readonly y: number | null } }[]): number =>
  items.reduce((all, { parsed }) => all + (parsed.y ?? 0), 0)
