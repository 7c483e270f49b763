import { Alert, Group, List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { DestinationTest } from '../../api/schema.ts'
import { duration } from '../../lib/format.ts'

export interface TestStepsProps {
  readonly label: string
  readonly result: DestinationTest
}

/** The steps of a test, and the platform's answer. */
export function TestSteps({ label, result: { ok, steps } }: TestStepsProps): ReactNode {
  return (
    <output>
      <Alert variant="outline" color={ok ? 'teal' : 'red'} title={`${label}: ${ok ? 'it works' : 'it failed'}`}>
        <List listStyleType="none" spacing={4} size="sm">
          {steps.map(({ name, ok: isStepOk, status, latency_ms: latency, message }, at) => (
            <List.Item key={at}>
              <Group gap={6} align="baseline">
                <Text span size="sm" fw={600} c={isStepOk ? 'teal' : 'red'}>
                  {isStepOk ? '✓' : '✗'}
                </Text>
                <Text span size="sm">
                  {name}
                </Text>
                <Text span size="xs" c="dimmed">
                  {status === 0 ? 'no answer' : `HTTP ${status}`}, {duration(latency)}
                </Text>
              </Group>
              {message !== undefined && (
                <Text size="xs" style={{ wordBreak: 'break-word' }}>
                  {message}
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      </Alert>
    </output>
  )
}
