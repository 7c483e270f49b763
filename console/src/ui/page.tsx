import { Flex, Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export interface PageProps {
  readonly title: string
  readonly about?: ReactNode
  /** Buttons beside the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** The frame of a page: one heading, what it is about, what can be done. */
export function Page({ title, about, actions, children }: PageProps): ReactNode {
  useDocumentTitle(`${title} · Signalbox`)
  return (
    <Stack gap="lg" maw={1400} mx="auto">
      {/* The buttons go below where a window is too narrow for both. */}
      <Flex justify="space-between" align="flex-start" gap="md" direction={{ base: 'column', xs: 'row' }}>
        <Stack gap={4} miw={0}>
          <Title order={1}>{title}</Title>
          {about !== undefined && (
            <Text size="sm" c="dimmed" maw={760}>
              {about}
            </Text>
          )}
        </Stack>
        {actions !== undefined && (
          <Group gap="xs" flex="none">
            {actions}
          </Group>
        )}
      </Flex>
      {children}
    </Stack>
  )
}
