import { Accordion, Badge, Button, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Answer } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { duration } from '../../lib/format.ts'
import { perMillion, priceShown } from '../../lib/price.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EndpointFacts } from './endpoint-facts.tsx'
import { percentShown } from './measures.ts'
import { partsOf } from './query.ts'

export interface DetailsProps {
  /** Undefined: closed. */
  readonly model: string | undefined
  readonly onClose: () => void
}

/** The endpoints of a model, with their prices and measurements. */
export function Details({ model, onClose }: DetailsProps): ReactNode {
  return (
    <Drawer opened={model !== undefined} onClose={onClose} position="right" size="lg" title={<Text fw={650}>{model}</Text>}>
      {model !== undefined && <Content key={model} model={model} />}
    </Drawer>
  )
}

type Found = Answer<'GET /api/v1/models/{author}/{slug}/endpoints'>['data']
type Endpoint = Found['endpoints'][number]

function Content({ model }: { readonly model: string }): ReactNode {
  const endpoints = useRead('GET /api/v1/models/{author}/{slug}/endpoints', { params: partsOf(model) })
  return (
    <Stack>
      <Copyable value={model} label="the slug" />
      <Loaded of={endpoints}>
        {({ data }) => (
          <>
            {data.architecture.output_modalities.includes('text') && (
              <Group>
                <Button component={Link} href={`/playground?model=${encodeURIComponent(model)}`} size="xs">
                  Try it in the Playground
                </Button>
              </Group>
            )}
            <About of={data} model={model} />
            <Title order={2}>{data.endpoints.length === 1 ? 'One endpoint' : `${data.endpoints.length} endpoints`}</Title>
            <Endpoints endpoints={data.endpoints} />
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function About({ of: { id, name, description, created, architecture }, model }: { readonly of: Found; readonly model: string }): ReactNode {
  return (
    <>
      {description !== '' && <Text size="sm">{description}</Text>}
      <Facts
        label="The model"
        of={[
          ['Name', name],
          ['Alias of', id === model ? undefined : id],
          ['Input', architecture.input_modalities.join(', ')],
          ['Output', architecture.output_modalities.join(', ')],
          ['Added', created > 0 ? new Date(created * 1_000).toISOString().slice(0, 10) : undefined],
        ]}
      />
    </>
  )
}

/** The list of endpoints, each with the figures for comparing them; a single one is open. */
function Endpoints({ endpoints }: { readonly endpoints: readonly Endpoint[] }): ReactNode {
  return (
    <Accordion variant="separated" multiple defaultValue={endpoints.length === 1 ? ['0'] : []} chevronPosition="left">
      {endpoints.map((endpoint, place) => (
        <Accordion.Item key={`${endpoint.tag} ${place}`} value={String(place)}>
          <Accordion.Control>
            <Summary endpoint={endpoint} />
          </Accordion.Control>
          <Accordion.Panel>
            <EndpointFacts endpoint={endpoint} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}

function Summary({ endpoint }: { readonly endpoint: Endpoint }): ReactNode {
  const { provider_name: provider, tag, pricing, status, latency_last_30m: latency, uptime_last_30m: uptime } = endpoint
  const measured = [latency === null ? '' : `first token ${duration(latency.p50)}`, uptime === null ? '' : `up ${percentShown(uptime)}`]
  return (
    <Stack gap={2}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {provider}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {tag}
        </Text>
        {status !== 0 && (
          <Badge size="sm" color="red" variant="light">
            degraded
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {[
          `${priceShown(perMillion(pricing.prompt))} in, ${priceShown(perMillion(pricing.completion))} out`,
          ...measured.filter((text) => text !== ''),
        ].join(' · ')}
      </Text>
    </Stack>
  )
}
