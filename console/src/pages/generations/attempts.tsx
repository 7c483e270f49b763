import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { GenerationDetail } from '../../api/schema.ts'
import { duration, moment, usd } from '../../lib/format.ts'
import { Facts } from '../../ui/facts.tsx'

/** Every endpoint that was tried, in order, and every tool that the gateway ran. */
export function Attempts({ of: { attempts, steps } }: { readonly of: GenerationDetail }): ReactNode {
  if (attempts.length === 0) return <Text c="dimmed">No endpoint was called.</Text>
  return (
    <Stack>
      {attempts.map((one, index) => (
        <Paper key={`${one.endpoint_id} ${one.started_at}`} withBorder p="sm">
          <Text fw={600} size="sm">
            {index + 1}. {one.provider_name}
          </Text>
          <Facts
            label={`Attempt ${index + 1}`}
            of={[
              ['Model', `${one.model} (${one.upstream_model})`],
              ['Started', moment(one.started_at)],
              ['Status', one.status === 0 ? 'no answer' : one.status],
              ['Error', one.error_type === null ? null : `${one.error_type}: ${one.error_message ?? ''}`],
              ['First token', one.latency === null ? null : duration(one.latency)],
              ['Duration', one.duration === null ? null : duration(one.duration)],
              ['Cost', one.cost === null ? null : usd(one.cost)],
              ['Paid by', one.is_byok ? 'own provider key' : null],
              ['Upstream id', one.upstream_id],
            ]}
          />
        </Paper>
      ))}
      {steps.length > 0 && (
        <Facts
          label="Tools the gateway ran"
          of={steps.map(
            (step) =>
              [
                step.name,
                `${duration(step.duration_ms)}${step.error_type === null ? '' : `, ${step.error_type}: ${step.error_message ?? ''}`}`,
              ] as const,
          )}
        />
      )}
    </Stack>
  )
}
