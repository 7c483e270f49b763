import { Alert, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { duration, percent, usd } from '../../lib/format.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import type { Body } from './body.ts'
import { Disclosure, Pre } from './disclosure.tsx'
import { explain, type Plan, type PlannedAttempt } from './explain.ts'

export interface PlanDialogProps {
  /** Undefined: it is closed. */
  readonly body: Body | undefined
  readonly inferenceKey: string
  readonly onClose: () => void
}

/** The endpoints that would be tried, in order, and why no others. Calls no model. */
export function PlanDialog({ body, inferenceKey, onClose }: PlanDialogProps): ReactNode {
  return (
    <Modal opened={body !== undefined} onClose={onClose} title="Current plan" size="xl">
      {body !== undefined && <Planned body={body} inferenceKey={inferenceKey} />}
    </Modal>
  )
}

function Planned({ body, inferenceKey }: { readonly body: Body; readonly inferenceKey: string }): ReactNode {
  // Not cached: a plan depends on the current health of the providers.
  const plan = useQuery({
    queryKey: ['playground', 'plan', inferenceKey, body],
    queryFn: ({ signal }) => explain(body, { key: inferenceKey, signal }),
    gcTime: 0,
    staleTime: 0,
  })
  return <Loaded of={plan}>{(data) => <Shown plan={data} />}</Loaded>
}

function Shown({ plan }: { readonly plan: Plan }): ReactNode {
  const { attempts, rejected, params, error } = plan
  return (
    <Stack gap="md">
      {error !== null && (
        <Alert color="red" role="alert" title={`${error.code} ${error.error_type}`}>
          {error.message}
        </Alert>
      )}
      <Text size="sm" c="dimmed">
        Requested: {plan.requested}; strategy {plan.strategy}, order {plan.order}
        {plan.estimated_input_tokens !== null && `, about ${plan.estimated_input_tokens} tokens of input`}.
      </Text>
      <DataTable
        label="Endpoints that would be tried"
        rows={attempts}
        keyOf={({ position }) => String(position)}
        empty="No endpoint would be called."
        columns={[
          { header: '#', cell: ({ position }) => position },
          { header: 'Provider', cell: ({ provider, is_byok: isOwn }) => (isOwn ? `${provider} (own key)` : provider) },
          { header: 'Model', cell: ({ upstream_model: upstream, model }) => `${model} as ${upstream}` },
          { header: 'State', cell: stateOf },
          { header: 'Share', cell: ({ score }) => percent(score.share), isFigure: true },
          { header: 'Price 1M + 1M', cell: ({ score }) => usd(score.price), isFigure: true },
          { header: 'Latency p50', cell: ({ score }) => duration(score.latency_p50_ms), isFigure: true },
        ]}
      />
      {rejected.length > 0 && (
        <DataTable
          label="Endpoints that would not be tried"
          rows={rejected}
          keyOf={({ endpoint }) => endpoint}
          empty=""
          columns={[
            { header: 'Provider', cell: ({ provider }) => provider },
            { header: 'Model', cell: ({ model }) => model },
            { header: 'Reason', cell: ({ reason }) => reason },
          ]}
        />
      )}
      {Object.keys(params).length > 0 && (
        <Disclosure summary="Other decisions">
          <Pre>{JSON.stringify(params, null, 2)}</Pre>
        </Disclosure>
      )}
    </Stack>
  )
}

function stateOf({ state, notes, dropped_parameters: dropped }: PlannedAttempt): ReactNode {
  const more = dropped.length === 0 ? notes : [...notes, `leaves out ${dropped.join(', ')}`]
  return (
    <>
      {state}
      {more.map((note) => (
        <Text size="xs" c="dimmed" key={note}>
          {note}
        </Text>
      ))}
    </>
  )
}
