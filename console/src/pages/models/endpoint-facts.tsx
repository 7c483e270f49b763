import { Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/client.ts'
import { count } from '../../lib/format.ts'
import { Facts } from '../../ui/facts.tsx'
import { contextShown, measuresOf, percentShown } from './measures.ts'
import { priceLines } from './prices.ts'

export interface EndpointFactsProps {
  readonly endpoint: Answer<'GET /api/v1/models/{author}/{slug}/endpoints'>['data']['endpoints'][number]
}

/** Everything that the gateway reports about one endpoint. */
export function EndpointFacts({ endpoint }: EndpointFactsProps): ReactNode {
  const { provider_name: provider, supports_tool_choice: choice, max_completion_tokens: mostOut, max_prompt_tokens: mostIn } = endpoint
  const choices = Object.entries(choice).flatMap(([name, can]) => (can ? [name] : []))
  return (
    <Stack gap="xs">
      <Facts label={`Prices of ${provider}`} of={priceLines(endpoint.pricing).map(({ name, price }) => [name, price] as const)} />
      <Facts
        label={`Limits of ${provider}`}
        of={[
          ['Context', contextShown(endpoint.context_length)],
          ['Max input', mostIn === null ? undefined : `${count(mostIn)} tokens`],
          ['Max output', mostOut === null ? undefined : `${count(mostOut)} tokens`],
          ['Quantization', endpoint.quantization],
          ['Automatic caching', endpoint.supports_implicit_caching ? 'yes' : 'no'],
          ['Tool choice', choices.length === 0 ? 'none' : choices.join(', ')],
          ['Parameters', endpoint.supported_parameters.join(', ') || 'none'],
        ]}
      />
      <Measures endpoint={endpoint} />
    </Stack>
  )
}

function Measures({ endpoint }: EndpointFactsProps): ReactNode {
  const { provider_name: provider, uptime_last_5m, uptime_last_30m, uptime_last_1d } = endpoint
  const measures = measuresOf(endpoint.latency_last_30m, endpoint.throughput_last_30m)
  const uptime = [
    ['5 min', uptime_last_5m],
    ['30 min', uptime_last_30m],
    ['1 day', uptime_last_1d],
  ] as const
  const known = uptime.filter(([, percent]) => percent !== null)
  if (known.length === 0 && measures.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        No measurements: this process has not called it recently.
      </Text>
    )
  }
  return (
    <>
      <Facts
        label={`Uptime of ${provider}`}
        of={[['Uptime', known.length === 0 ? undefined : known.map(([span, percent]) => `${percentShown(percent)} in ${span}`).join(', ')]]}
      />
      {measures.length > 0 && <Percentiles label={`Measured of ${provider}, last 30 minutes`} measures={measures} />}
    </>
  )
}

function Percentiles({ label, measures }: { readonly label: string; readonly measures: ReturnType<typeof measuresOf> }): ReactNode {
  return (
    <Table aria-label={label} fz="xs" verticalSpacing={3} style={{ fontVariantNumeric: 'tabular-nums' }}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Last 30 min</Table.Th>
          {['p50', 'p75', 'p90', 'p99'].map((name) => (
            <Table.Th key={name} ta="right">
              {name}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {measures.map(({ name, p50, p75, p90, p99 }) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={500}>
              {name}
            </Table.Th>
            <Table.Td ta="right">{p50}</Table.Td>
            <Table.Td ta="right">{p75}</Table.Td>
            <Table.Td ta="right">{p90}</Table.Td>
            <Table.Td ta="right">{p99}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
