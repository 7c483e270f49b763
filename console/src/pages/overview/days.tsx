import { Group, Paper, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core'
import { useMemo, type ReactNode } from 'react'
import { BarChart } from '../../ui/bar-chart.tsx'
import type { Address } from '../../ui/address.ts'
import { byDay, isMetric, lastDays, METRICS, rank, seriesOf, sum, type ActivityRow, type Grouping, type Metric } from './activity.ts'
import { Figures } from './figures.tsx'
import { Ranking } from './ranking.tsx'

export interface ActivityProps {
  readonly rows: readonly ActivityRow[]
  /** When the rows were read, in milliseconds. */
  readonly now: number
  readonly address: Address
}

const DAYS = 30
const FORMAT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const dayShown = (date: string): string => FORMAT.format(Date.parse(date)).replace(' ', '\u00a0')

/** Figures, chart and ranking of the same calls. */
export function Activity({ rows, now, address }: ActivityProps): ReactNode {
  const by: Grouping = address.get('by') === 'provider' ? 'provider' : 'model'
  const wanted = address.get('of')
  const metric: Metric = isMetric(wanted) ? wanted : 'calls'
  const days = useMemo(() => lastDays(rows, now, DAYS), [rows, now])
  const within = useMemo(() => rows.filter(({ date }) => days.includes(date)), [rows, days])
  const totals = useMemo(() => byDay(within, days), [within, days])
  const wantedDay = address.get('day')
  const day = wantedDay !== undefined && days.includes(wantedDay) ? wantedDay : undefined
  const ranked = useMemo(
    () =>
      rank(
        within.filter(({ date }) => day === undefined || date === day),
        by,
        metric,
      ),
    [within, day, by, metric],
  )
  const hasOwnKeys = sum(within).ownKeys > 0
  const quiet = totals.filter(({ calls }) => calls === 0).length
  return (
    <Stack gap="lg">
      <Figures days={totals} />
      <Paper withBorder p="md" component="section" aria-labelledby="by-day">
        <Stack gap="md">
          <Group justify="space-between" gap="sm">
            <Title order={2} id="by-day">
              By day
            </Title>
            <Switches by={by} metric={metric} hasOwnKeys={hasOwnKeys} address={address} />
          </Group>
          <Chart rows={within} days={days} by={by} metric={metric} onPick={(n) => address.set({ day: days[n] })} />
          <Text size="xs" c="dimmed">
            {quiet === 0 ? `Calls on each of these ${DAYS} days.` : `No calls on ${quiet} of these ${DAYS} days.`}
          </Text>
        </Stack>
      </Paper>
      <Stack gap="xs">
        <Group justify="space-between" align="flex-end" gap="sm">
          <Title order={2}>{by === 'model' ? 'Models' : 'Providers'}</Title>
          <DaySelect days={days} day={day} address={address} />
        </Group>
        <Ranking ranked={ranked} by={by} metric={metric} hasOwnKeys={hasOwnKeys} />
      </Stack>
    </Stack>
  )
}

interface DaySelectProps {
  readonly days: readonly string[]
  readonly day: string | undefined
  readonly address: Address
}

/** Restricts the chart to one day. */
function DaySelect({ days, day, address }: DaySelectProps): ReactNode {
  return (
    <Select
      size="xs"
      w={150}
      aria-label="Day"
      placeholder={`All ${DAYS} days`}
      clearable
      value={day ?? null}
      onChange={(value) => address.set({ day: value ?? undefined })}
      data={days.toReversed().map((date) => ({ value: date, label: dayShown(date) }))}
    />
  )
}

interface SwitchesProps {
  readonly by: Grouping
  readonly metric: Metric
  readonly hasOwnKeys: boolean
  readonly address: Address
}

function Switches({ by, metric, hasOwnKeys, address }: SwitchesProps): ReactNode {
  const metrics = Object.entries(METRICS).filter(([name]) => name !== 'own_keys' || hasOwnKeys || metric === 'own_keys')
  return (
    <Group gap="sm">
      <SegmentedControl
        size="xs"
        aria-label="Figure"
        value={metric}
        onChange={(value) => address.set({ of: value === 'calls' ? undefined : value })}
        data={metrics.map(([value, { label }]) => ({ value, label }))}
      />
      <SegmentedControl
        size="xs"
        aria-label="Group by"
        value={by}
        onChange={(value) => address.set({ by: value === 'model' ? undefined : value })}
        data={[
          { value: 'model', label: 'Models' },
          { value: 'provider', label: 'Providers' },
        ]}
      />
    </Group>
  )
}

interface ChartProps {
  readonly rows: readonly ActivityRow[]
  readonly days: readonly string[]
  readonly by: Grouping
  readonly metric: Metric
  readonly onPick: (day: number) => void
}

function Chart({ rows, days, by, metric, onPick }: ChartProps): ReactNode {
  const series = useMemo(() => seriesOf(rows, days, by, metric), [rows, days, by, metric])
  const { label, shown, brief } = METRICS[metric]
  if (series.length === 0) {
    return (
      <Text size="sm" c="dimmed" ta="center" py="xl">
        {label}: none in these {DAYS} days.
      </Text>
    )
  }
  return (
    <BarChart
      label={`${label} by day, stacked by ${by}`}
      category="Day"
      categories={days.map(dayShown)}
      series={series}
      shown={shown}
      brief={brief}
      onPick={onPick}
      nothing={metric === 'calls' ? 'no calls' : 'none'}
    />
  )
}
