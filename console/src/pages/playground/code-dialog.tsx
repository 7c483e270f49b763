import { Modal, Stack, Tabs, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Copyable } from '../../ui/copyable.tsx'
import type { Body } from './body.ts'
import { snippetsOf } from './code.ts'

export interface CodeDialogProps {
  /** Undefined: it is closed. */
  readonly body: Body | undefined
  readonly onClose: () => void
}

/** The request as program code. */
export function CodeDialog({ body, onClose }: CodeDialogProps): ReactNode {
  const snippets = body === undefined ? [] : snippetsOf(body, location.origin)
  return (
    <Modal opened={body !== undefined} onClose={onClose} title="As code" size="xl">
      <Stack>
        <Text size="sm" c="dimmed">
          The key is read from SIGNALBOX_API_KEY.
        </Text>
        <Tabs defaultValue="curl" keepMounted={false}>
          <Tabs.List mb="sm">
            {snippets.map(({ label }) => (
              <Tabs.Tab key={label} value={label}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {snippets.map(({ label, text }) => (
            <Tabs.Panel key={label} value={label}>
              <Copyable value={text} label={`the request in ${label}`} />
            </Tabs.Panel>
          ))}
        </Tabs>
      </Stack>
    </Modal>
  )
}
