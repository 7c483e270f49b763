import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { curlOf } from './form.ts'

const FREE_MODEL = 'demo/echo'

export interface NewKeyProps {
  readonly title: string
  readonly secret: string
  readonly onDone: () => void
}

/** A secret that was just made, shown once. Only the button closes it, since closing it by mistake would lose the key. */
export function NewKey({ title, secret, onDone }: NewKeyProps): ReactNode {
  return (
    <Modal opened onClose={onDone} title={title} size="lg" closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
      <Shown secret={secret} onDone={onDone} />
    </Modal>
  )
}

function Shown({ secret, onDone }: Omit<NewKeyProps, 'title'>): ReactNode {
  // A free model that every gateway has unless its operator removed it; otherwise the most popular one.
  const free = useRead('GET /api/v1/models', { query: { q: FREE_MODEL, limit: 100 } })
  const popular = useRead('GET /api/v1/models', { query: { output_modalities: 'text', sort: 'most-popular', limit: 1 } })
  const model = free.data?.data.find(({ id }) => id === FREE_MODEL) ?? popular.data?.data[0]
  return (
    <Stack>
      <Alert color="yellow" title="This key will not be shown again">
        The gateway stores only its hash. Copy the key now.
      </Alert>
      <Copyable value={secret} label="the new key" />
      <Text size="sm" fw={500}>
        Try it
      </Text>
      <Copyable value={curlOf(location.origin, secret, model?.id)} label="a first call" />
      <Group justify="flex-end">
        <Button onClick={onDone} data-autofocus>
          I have copied it
        </Button>
      </Group>
    </Stack>
  )
}
