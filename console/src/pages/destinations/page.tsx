import { Button, Drawer, Pagination } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { useRead } from '../../api/hooks.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { CreateDestination } from './create.tsx'
import { Detail } from './detail.tsx'
import { DestinationList, NoDestinations } from './list.tsx'
import { useDestinationWords } from './use-document.ts'

const PAGE = 100

/** The opened destination, its tab, and the form for a new one stand in the address. */
export default function DestinationsPage(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const opened = search.get('destination')
  const isNew = search.has('new')
  const tab = search.get('tab') ?? 'status'
  const page = Math.max(1, Math.trunc(Number(search.get('page') ?? 1)) || 1)
  const words = useDestinationWords()
  const list = useRead('GET /api/v1/observability/destinations', { query: { limit: PAGE, offset: (page - 1) * PAGE } })
  const workspaces = useRead('GET /api/v1/workspaces', { query: { limit: 100 } })
  const labelOf = (type: string): string => words.data?.types.find((one) => one.type === type)?.label ?? type
  const workspaceOf = (id: string): string => workspaces.data?.data.find((one) => one.id === id)?.name ?? id
  const openedName = list.data?.data.find(({ id }) => id === opened)?.name
  const go = (to: { readonly [name: string]: string }): void => setSearch({ ...(page === 1 ? {} : { page: String(page) }), ...to })
  const add = <Button onClick={() => go({ new: '' })}>New destination</Button>
  return (
    <Page
      title="Destinations"
      about="Where finished generations are forwarded to, and how that goes."
      actions={list.data?.total_count === 0 ? undefined : add}
    >
      <Loaded of={list}>
        {({ data, total_count: total }) => (
          <>
            <DestinationList
              destinations={data}
              labelOf={labelOf}
              workspaceOf={(workspaces.data?.data.length ?? 0) > 1 ? workspaceOf : undefined}
              onOpen={(id) => go({ destination: id })}
              empty={<NoDestinations action={add} />}
            />
            {total > PAGE && (
              <Pagination
                total={Math.ceil(total / PAGE)}
                value={page}
                onChange={(to) => setSearch({ page: String(to) })}
                size="sm"
                getControlProps={(control) => ({ 'aria-label': control })}
              />
            )}
          </>
        )}
      </Loaded>
      <Drawer
        opened={isNew || opened !== null}
        onClose={() => go({})}
        position="right"
        // What somebody is typing is not lost by a click beside it.
        closeOnClickOutside={!isNew && tab !== 'settings'}
        size="min(760px, 100vw)"
        title={isNew ? 'New destination' : (openedName ?? 'Destination')}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Loaded of={words}>
          {(known) =>
            isNew ? (
              <CreateDestination words={known} onCreated={(id) => go({ destination: id })} />
            ) : (
              opened !== null && (
                <Detail
                  key={opened}
                  id={opened}
                  words={known}
                  workspaceOf={workspaceOf}
                  tab={tab}
                  onTab={(to) => go(to === 'status' ? { destination: opened } : { destination: opened, tab: to })}
                  onDeleted={() => go({})}
                />
              )
            )
          }
        </Loaded>
      </Drawer>
    </Page>
  )
}
