import { Flex, Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export interface PageProps {
  readonly title: string
  readonly about?: ReactNode
  /** Buttons next to the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

const HEADING = 'page-heading'

/** For a panel that has closed: unless something has the focus, the page's heading gets it. Otherwise the keyboard would begin at the top of the window. */
export function focusPage(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById(HEADING)?.focus({ preventScroll: true })
  }, RETURNED_MS)
}

/** By then the library has given the focus back, if there is anything to give it to. */
const RETURNED_MS = 50

/** The frame of a page: a heading, a description, and actions. */
export function Page({ title, about, actions, children }: PageProps): ReactNode {
  useDocumentTitle(`${title} · Signalbox`)
  return (
    <Stack gap="lg" maw={1400} mx="auto">
      {/* The buttons wrap below the title in a narrow window. */}
      <Flex justify="space-between" align="flex-start" gap="md" direction={{ base: 'column', xs: 'row' }}>
        <Stack gap={4} miw={0}>
          <Title order={1} id={HEADING} tabIndex={-1}>
            {title}
          </Title>
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
