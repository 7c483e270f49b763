import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'

export function NotFound(): ReactNode {
  return (
    <Stack>
      <Title order={1}>Page not found</Title>
      <Text>
        <Anchor component={Link} href="/">
          Go to the overview
        </Anchor>
      </Text>
    </Stack>
  )
}
