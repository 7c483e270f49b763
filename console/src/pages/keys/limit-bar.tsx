import { Progress, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiKey } from '../../api/schema.ts'
import { gauge, percent, usd } from '../../lib/format.ts'
import { usedShare } from './list.ts'

/** What is left of the limit, as text and as a bar. */
export function LimitBar({ of: key }: { readonly of: ApiKey }): ReactNode {
  const used = usedShare(key)
  if (used === undefined) {
    return (
      <Text size="xs" c="dimmed">
        no limit
      </Text>
    )
  }
  const colour = used >= 1 ? 'red' : used >= 0.8 ? 'orange' : undefined
  return (
    <Stack gap={3} miw={130}>
      <Text size="xs" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
        {usd(key.limit_remaining)} of {usd(key.limit)} left{key.limit_reset === null ? '' : `, ${key.limit_reset}`}
      </Text>
      <Progress.Root size={5}>
        <Progress.Section value={gauge(used)} color={colour} aria-label={`${percent(used)} of the limit of ${key.name} is used`} />
      </Progress.Root>
    </Stack>
  )
}
