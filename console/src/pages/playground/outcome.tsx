import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { count, duration, usd } from '../../lib/format.ts'
import { Disclosure, Pre } from './disclosure.tsx'
import classes from './playground.module.css'
import { routingOf, whyOf } from './routing.ts'
import { isOver, timingOf, type Metadata, type Run } from './run.ts'

export interface OutcomeProps {
  readonly run: Run
  readonly onPlan: () => void
  readonly onCode: () => void
}

/** All details of an answer that is over. */
export function Outcome({ run, onPlan, onCode }: OutcomeProps): ReactNode {
  if (!isOver(run)) return null
  return (
    <Stack gap="xs">
      <Figures run={run} />
      {run.metadata !== undefined && <Routed metadata={run.metadata} onPlan={onPlan} />}
      {run.debug.length > 0 && (
        <Disclosure summary="Requests sent to providers">
          <Pre>{JSON.stringify(run.debug, null, 2)}</Pre>
        </Disclosure>
      )}
      {Object.keys(run.unknown).length > 0 && (
        <Text size="xs" c="dimmed">
          Unknown events:{' '}
          {Object.entries(run.unknown)
            .map(([type, times]) => `${type} × ${times}`)
            .join(', ')}
        </Text>
      )}
      <Group gap="md">
        {run.id !== undefined && (
          <Anchor component={Link} href={`/generations?id=${encodeURIComponent(run.id)}`} size="sm">
            {run.id}
          </Anchor>
        )}
        <Anchor component="button" type="button" size="sm" onClick={onCode}>
          As code
        </Anchor>
      </Group>
    </Stack>
  )
}

const tokens = (many: number | undefined): string => `${count(many)} ${many === 1 ? 'token' : 'tokens'}`

function Figures({ run }: { readonly run: Run }): ReactNode {
  const { firstMs, totalMs, rate } = timingOf(run)
  const { usage } = run
  const cached = usage?.input_tokens_details?.cached_tokens ?? 0
  const reasoning = usage?.output_tokens_details?.reasoning_tokens ?? 0
  const figures: readonly (readonly [string, string | undefined])[] = [
    ['Model', run.model],
    ['Served by', run.metadata && routingOf(run.metadata).served],
    ['Input', usage && `${tokens(usage.input_tokens)}${cached > 0 ? `, ${count(cached)} cached` : ''}`],
    ['Output', usage && `${tokens(usage.output_tokens)}${reasoning > 0 ? `, ${count(reasoning)} reasoning` : ''}`],
    ['Cost', usage && (usage.cost === null ? 'no price known' : usd(usage.cost))],
    ['First token', firstMs === undefined ? undefined : duration(firstMs)],
    ['Total', duration(totalMs)],
    ['Rate', rate === undefined ? undefined : `${count(rate)} tokens/s`],
  ]
  return (
    <dl className={classes['figures']} aria-label="Answer statistics">
      {figures
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

function Routed({ metadata, onPlan }: { readonly metadata: Metadata; readonly onPlan: () => void }): ReactNode {
  const { sentence, attempts, endpoints, isNotable, hasUnasked } = routingOf(metadata)
  const { params, pipeline = [] } = metadata
  const changed = Object.keys(params ?? {}).length > 0
  return (
    <Disclosure summary={sentence} isOpen={isNotable}>
      <Stack gap="sm">
        {attempts.length > 0 && (
          <Rows
            label="Attempts"
            head={['Attempt', 'Provider', 'Model', 'Outcome']}
            rows={attempts.map((attempt, index) => [String(index + 1), attempt.provider, attempt.model, whyOf(attempt)])}
          />
        )}
        {endpoints.length > 1 && (
          <Rows
            label="Endpoints"
            head={['Provider', 'Model', 'Result']}
            rows={endpoints.map(({ provider, model, fate }) => [provider, model, fate])}
          />
        )}
        {hasUnasked && (
          <Group>
            <Button size="compact-xs" variant="default" onClick={onPlan}>
              Why were others not called?
            </Button>
          </Group>
        )}
        {changed && <Detail name="Changes to the request">{params}</Detail>}
        {pipeline.length > 0 && <Detail name="Stages that ran">{pipeline}</Detail>}
      </Stack>
    </Disclosure>
  )
}

function Detail({ name, children }: { readonly name: string; readonly children: unknown }): ReactNode {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Pre label={name}>{JSON.stringify(children, null, 2)}</Pre>
    </div>
  )
}

interface RowsProps {
  readonly label: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

function Rows({ label, head, rows }: RowsProps): ReactNode {
  return (
    <Table aria-label={label} fz="sm" verticalSpacing={3} w="auto" style={{ overflowWrap: 'anywhere' }}>
      <Table.Thead>
        <Table.Tr>
          {head.map((name) => (
            <Table.Th key={name}>{name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((cells, row) => (
          <Table.Tr key={row}>
            {cells.map((cell, column) => (
              <Table.Td key={column}>{cell}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
