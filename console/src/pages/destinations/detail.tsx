import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { count } from '../../lib/format.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { useLeaving } from '../../ui/unsaved.tsx'
import { DeadLetters } from './dead-letters.tsx'
import type { DestinationWords } from './document.ts'
import { STATUS_EVERY_MS } from './list.tsx'
import { Overview } from './overview.tsx'
import { Settings } from './settings.tsx'

export interface DetailProps {
  readonly id: string
  readonly words: DestinationWords
  readonly workspaceOf: (id: string) => string
  readonly tab: string
  readonly onTab: (tab: string) => void
  readonly onDeleted: () => void
}

/** Everything about one destination. */
export function Detail({ id, words, workspaceOf, tab, onTab, onDeleted }: DetailProps): ReactNode {
  const destination = useRead('GET /api/v1/observability/destinations/{id}', { params: { id } })
  const { data: status } = useRead('GET /api/v1/observability/destinations/{id}/status', { params: { id } }, { every: STATUS_EVERY_MS })
  const dead = status?.data.dead ?? 0
  const leaving = useLeaving()
  return (
    <Loaded of={destination}>
      {({ data }) => (
        <Tabs value={tab} onChange={(next) => next !== null && leaving(() => onTab(next))} keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="status">Status</Tabs.Tab>
            <Tabs.Tab value="settings">Settings</Tabs.Tab>
            <Tabs.Tab value="dead">{dead === 0 ? 'Dead letters' : `Dead letters (${count(dead)})`}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="status">
            <Overview
              destination={data}
              type={words.types.find(({ type }) => type === data.type)?.label ?? data.type}
              workspace={workspaceOf(data.workspace_id)}
              onDeleted={onDeleted}
            />
          </Tabs.Panel>
          <Tabs.Panel value="settings">
            <Settings key={data.id} destination={data} words={words} />
          </Tabs.Panel>
          <Tabs.Panel value="dead">
            <DeadLetters id={id} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Loaded>
  )
}
