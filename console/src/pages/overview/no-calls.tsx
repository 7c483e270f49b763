import { Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../api/hooks.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { firstCall } from './first-call.ts'

/** Answers without any vendor, unless the operator has switched it off. */
const BUILT_IN = 'demo/echo'

/** The page is polled, because users look here right after their first call. */
const LOOK_AGAIN_MS = 3_000

/** Shown instead of empty charts. */
export function FirstCall(): ReactNode {
  useRead('GET /api/v1/activity', { query: {} }, { every: LOOK_AGAIN_MS })
  const builtIn = useRead('GET /api/v1/models', { query: { q: BUILT_IN, limit: 1 } })
  const newest = useRead('GET /api/v1/models', { query: { sort: 'newest', output_modalities: 'text', limit: 1 } })
  const model = builtIn.data?.data[0]?.id ?? newest.data?.data[0]?.id
  return (
    <Paper withBorder p="lg">
      <Stack align="stretch">
        <Title order={2}>No calls in the last 30 days</Title>
        <Text size="sm">
          Make one to see its tokens and cost here. Use the inference key that the first start printed, or{' '}
          <Anchor component={Link} href="/keys" inherit>
            create another
          </Anchor>
          .
        </Text>
        <Copyable label="a first call" value={firstCall(location.origin, model ?? BUILT_IN)} />
        <Group>
          <Button component={Link} href={model === undefined ? '/playground' : `/playground?model=${encodeURIComponent(model)}`} variant="default">
            Try it in the Playground
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
