import { Code, Drawer, Group, Stack, Tabs, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { Copyable } from '../../ui/copyable.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Attempts } from './attempts.tsx'
import { Content } from './content.tsx'
import classes from './content.module.css'
import { StatusBadge } from './status.tsx'
import { Summary } from './summary.tsx'

export interface DetailProps {
  /** Undefined: closed. */
  readonly id: string | undefined
  readonly onClose: () => void
}

/** All details of one call. */
export function Detail({ id, onClose }: DetailProps): ReactNode {
  return (
    // It stays mounted when closed, because it returns the focus to where it was.
    <Drawer opened={id !== undefined} onClose={onClose} position="right" size="xl" title="Generation">
      {id !== undefined && <Opened key={id} id={id} />}
    </Drawer>
  )
}

function Opened({ id }: { readonly id: string }): ReactNode {
  const read = useRead('GET /api/v1/generations/{id}', { params: { id } })
  return (
    <Loaded of={read}>
      {({ data }) => (
        <Stack>
          <Group gap="xs">
            <StatusBadge status={data.status} />
            <Text fw={600}>{data.model ?? data.requested_model}</Text>
            {data.provider_name !== null && <Text c="dimmed">by {data.provider_name}</Text>}
          </Group>
          <Copyable value={data.id} label="id" />
          {data.error_message !== null && (
            <Text size="sm" c="red" style={{ overflowWrap: 'anywhere' }}>
              {data.error_type}: {data.error_message}
            </Text>
          )}
          <Tabs defaultValue="summary" keepMounted={false}>
            <Tabs.List>
              <Tabs.Tab value="summary">Summary</Tabs.Tab>
              <Tabs.Tab value="attempts">Attempts ({data.attempts.length})</Tabs.Tab>
              <Tabs.Tab value="content">Content</Tabs.Tab>
              <Tabs.Tab value="record">Record</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="summary" pt="md">
              <Summary of={data} />
            </Tabs.Panel>
            <Tabs.Panel value="attempts" pt="md">
              <Attempts of={data} />
            </Tabs.Panel>
            <Tabs.Panel value="content" pt="md">
              <Content id={id} />
            </Tabs.Panel>
            <Tabs.Panel value="record" pt="md">
              <Code block className={classes['text']}>
                {JSON.stringify(data, null, 2)}
              </Code>
            </Tabs.Panel>
          </Tabs>
        </Stack>
      )}
    </Loaded>
  )
}
