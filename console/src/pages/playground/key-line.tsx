import { Anchor, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { createApi } from '../../api/client.ts'
import { moment, usd } from '../../lib/format.ts'

export interface KeyLineProps {
  readonly inferenceKey: string
  /** Changes when something was spent. */
  readonly spent: number
  readonly onChange: () => void
}

/** The key in use, and what it may still spend. */
export function KeyLine({ inferenceKey, spent, onChange }: KeyLineProps): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['playground', 'key', inferenceKey, spent],
    queryFn: ({ signal }) => createApi({ key: inferenceKey })('GET /api/v1/key', {}, signal),
    placeholderData: (before) => before,
  })
  const key = data?.data
  const facts = [
    key === undefined ? undefined : `Key ${key.label}`,
    key?.limit_remaining == null ? undefined : `${usd(key.limit_remaining)} left${key.limit_reset === null ? '' : ` (${key.limit_reset})`}`,
    key?.expires_at == null ? undefined : `until ${moment(key.expires_at)}`,
  ]
  return (
    <Group gap="sm">
      <Text size="sm" c={error === null ? 'dimmed' : 'red'} style={{ overflowWrap: 'anywhere' }}>
        {error === null ? facts.filter((fact) => fact !== undefined).join(' · ') : `The key: ${error.message}`}
      </Text>
      <Anchor component="button" type="button" size="sm" onClick={onChange}>
        Use another key
      </Anchor>
    </Group>
  )
}
