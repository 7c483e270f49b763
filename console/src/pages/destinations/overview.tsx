import { Alert, Button, Divider, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useChange, useRead } from '../../api/hooks.ts'
import type { DestinationStatus, ObservabilityDestination } from '../../api/schema.ts'
import { ago, bytes, count, duration, moment, NOTHING } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Problem } from '../../ui/problem.tsx'
import { percentOf } from './body.ts'
import { sentenceOf } from './filter-rules.ts'
import { healthOf } from './health.ts'
import { HealthBadge, STATUS_EVERY_MS } from './list.tsx'
import { TestSteps } from './test-steps.tsx'
import { useNow } from './use-now.ts'

export interface OverviewProps {
  readonly destination: ObservabilityDestination
  readonly type: string
  readonly workspace: string
  readonly onDeleted: () => void
}

const STATUS = 'GET /api/v1/observability/destinations/{id}/status'

/** The state of a destination, and the actions for it. */
export function Overview({ destination, type, workspace, onDeleted }: OverviewProps): ReactNode {
  const { id, name } = destination
  const params = { id }
  const status = useRead(STATUS, { params }, { every: STATUS_EVERY_MS })
  const pause = useChange('POST /api/v1/observability/destinations/{id}/pause', [STATUS])
  const resume = useChange('POST /api/v1/observability/destinations/{id}/resume', [STATUS])
  const remove = useChange('DELETE /api/v1/observability/destinations/{id}', ['GET /api/v1/observability/destinations'])
  return (
    <Stack>
      <Loaded of={status}>
        {({ data }) => (
          <>
            <Group justify="space-between">
              <HealthBadge status={data} />
              {data.paused ? (
                <Button size="xs" loading={resume.isPending} onClick={() => resume.mutate({ params })}>
                  Resume
                </Button>
              ) : (
                <Button size="xs" variant="default" loading={pause.isPending} onClick={() => pause.mutate({ params })}>
                  Pause
                </Button>
              )}
            </Group>
            {data.paused && <Text size="sm">Nothing is sent while it is paused. Finished calls wait in the queue.</Text>}
            <Problem error={pause.error ?? resume.error} />
            <Failure status={data} />
            <Deliveries status={data} />
          </>
        )}
      </Loaded>
      <Divider />
      <Tries id={id} />
      <Divider />
      <Facts
        label="Destination"
        of={[
          ['Id', id],
          ['Type', type],
          ['Workspace', workspace],
          ['Filter', sentenceOf(destination.filter_rules)],
          ['Keys', destination.api_key_hashes === null ? 'All' : `${destination.api_key_hashes.length} chosen`],
          ['Sampling', `${percentOf(destination.sampling_rate)} %`],
          ['Privacy mode', destination.privacy_mode ? 'On: no texts are sent' : 'Off'],
          ['Regions', destination.regions.join(', ')],
          ['Created', moment(destination.created_at)],
          ['Updated', moment(destination.updated_at)],
        ]}
      />
      <Group justify="flex-end">
        <Confirm label="Delete destination" title={`Delete ${name}?`} onConfirm={() => remove.mutateAsync({ params })} onDone={onDeleted}>
          This also deletes its secrets, its queue and its dead letters. What was delivered stays at the platform.
        </Confirm>
      </Group>
    </Stack>
  )
}

/** The current problem; a past one is listed among the other facts. */
function Failure({ status }: { readonly status: DestinationStatus }): ReactNode {
  const now = useNow()
  if (!healthOf(status).isErrorCurrent) return null
  const waitMs = status.retry_at === null ? undefined : Date.parse(status.retry_at) - now
  return (
    <Alert color="red" title={status.breaker === 'closed' ? 'The last delivery failed' : 'Deliveries fail'}>
      <Stack gap={4}>
        <Text size="sm" style={{ wordBreak: 'break-word' }}>
          {status.last_error ?? `HTTP ${status.last_status ?? ''}`}
        </Text>
        {waitMs !== undefined && (
          <Text size="sm">
            {waitMs > 0 ? `Next attempt in ${duration(waitMs)}` : 'Next attempt now'}, at {moment(status.retry_at)}.
          </Text>
        )}
      </Stack>
    </Alert>
  )
}

function Deliveries({ status }: { readonly status: DestinationStatus }): ReactNode {
  const now = useNow()
  const when = (iso: string | null): string => (iso === null ? NOTHING : `${ago(iso, now)} (${moment(iso)})`)
  const age = status.oldest_age_seconds
  return (
    <Facts
      label="Deliveries"
      of={[
        ['Delivered', count(status.delivered)],
        [
          'Queued',
          `${count(status.queued)}${status.queued === 0 ? '' : ` (${bytes(status.queued_bytes)}, oldest ${duration(age === null ? null : age * 1_000)})`}`,
        ],
        ['Rejected', count(status.rejected)],
        ['Dead letters', count(status.dead)],
        [
          'Dropped (queue full)',
          status.dropped === 0 && status.bodies_dropped === 0 ? '0' : `${count(status.dropped)}, and texts of ${count(status.bodies_dropped)}`,
        ],
        ['Circuit breaker', status.breaker],
        ['Next attempt', status.retry_at === null ? null : moment(status.retry_at)],
        ['Last success', when(status.last_success_at)],
        ['Last error', when(status.last_error_at)],
        ['', healthOf(status).isErrorCurrent ? null : status.last_error],
      ]}
    />
  )
}

function Tries({ id }: { readonly id: string }): ReactNode {
  const params = { id }
  const test = useChange('POST /api/v1/observability/destinations/{id}/test', [])
  const sample = useChange('POST /api/v1/observability/destinations/{id}/send-test', [STATUS])
  const busy = test.isPending || sample.isPending
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          loading={test.isPending}
          disabled={busy}
          onClick={() => {
            sample.reset()
            test.mutate({ params })
          }}
        >
          Test the connection
        </Button>
        <Button
          size="xs"
          variant="default"
          loading={sample.isPending}
          disabled={busy}
          onClick={() => {
            test.reset()
            sample.mutate({ params })
          }}
        >
          Send a sample
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        The test checks the address and the credentials; for some platforms it sends an empty span or event. The sample is one generation that is
        labelled as a sample.
      </Text>
      <Problem error={test.error ?? sample.error} />
      {test.data !== undefined && <TestSteps label="Connection test" result={test.data.data} />}
      {sample.data !== undefined && <TestSteps label="Sample delivery" result={sample.data.data} />}
    </Stack>
  )
}
