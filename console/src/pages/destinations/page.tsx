import { Button, Select } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { useRead } from '../../api/hooks.ts'
import { usePages } from '../../api/pages.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { MOST_OPTIONS } from '../../ui/most-options.ts'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { CreateDestination } from './create.tsx'
import { Detail } from './detail.tsx'
import { DestinationList, NoDestinations } from './list.tsx'
import { useDestinations } from './use-destinations.ts'
import { useDestinationWords } from './use-document.ts'

/** The open destination, its tab, the form for a new one and the chosen workspace are part of the URL. */
export default function DestinationsPage(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const workspace = search.get('workspace')
  const words = useDestinationWords()
  const { of: workspaces, hasMore } = usePages('GET /api/v1/workspaces', {}, { all: true })
  // All workspaces or none yet, because their destinations are requested together.
  const known = hasMore ? undefined : workspaces.data
  const list = useDestinations(workspace === null ? known?.map(({ id }) => id) : [workspace])
  const labelOf = (type: string): string => words.data?.types.find((one) => one.type === type)?.label ?? type
  const workspaceOf = (id: string): string => known?.find((one) => one.id === id)?.name ?? id
  const hasSeveral = known !== undefined && known.length > 1
  const go = (to: { readonly [name: string]: string }): void => setSearch({ ...(workspace === null ? {} : { workspace }), ...to })
  const add = <Button onClick={() => go({ new: '' })}>New destination</Button>
  return (
    <Page
      title="Destinations"
      about="Platforms that receive finished generations, and the state of their deliveries."
      actions={list.data?.length === 0 ? undefined : add}
    >
      <Problem error={workspaces.error} onRetry={() => void workspaces.refetch()} />
      {hasSeveral && (
        <Select
          aria-label="Show workspace"
          placeholder="All workspaces"
          w={260}
          searchable
          limit={MOST_OPTIONS}
          clearable
          data={known.map(({ id, name }) => ({ value: id, label: name }))}
          value={workspace}
          onChange={(id) => setSearch(id === null ? {} : { workspace: id })}
        />
      )}
      {workspaces.error === null && (
        <Loaded of={list}>
          {(destinations) => (
            <DestinationList
              destinations={destinations}
              labelOf={labelOf}
              workspaceOf={hasSeveral ? workspaceOf : undefined}
              onOpen={(id) => go({ destination: id })}
              empty={<NoDestinations action={add} />}
            />
          )}
        </Loaded>
      )}
      <OpenedDrawer search={search} onGo={go} workspaceOf={workspaceOf} />
    </Page>
  )
}

interface OpenedDrawerProps {
  readonly search: URLSearchParams
  readonly onGo: (to: { readonly [name: string]: string }) => void
  readonly workspaceOf: (id: string) => string
}

/** One destination, or the form for a new one, next to the list. */
function OpenedDrawer({ search, onGo, workspaceOf }: OpenedDrawerProps): ReactNode {
  const opened = search.get('destination')
  const isNew = search.has('new')
  const tab = search.get('tab') ?? 'status'
  const words = useDestinationWords()
  const { data } = useRead('GET /api/v1/observability/destinations/{id}', { params: { id: opened ?? '' } }, { when: opened !== null })
  const name = data?.data.id === opened ? data?.data.name : undefined
  return (
    <SidePanel opened={isNew || opened !== null} onClose={() => onGo({})} size={760} title={isNew ? 'New destination' : (name ?? 'Destination')}>
      <Loaded of={words}>
        {(known) =>
          isNew ? (
            <CreateDestination words={known} workspace={search.get('workspace') ?? undefined} onCreated={(id) => onGo({ destination: id })} />
          ) : (
            opened !== null && (
              <Detail
                key={opened}
                id={opened}
                words={known}
                workspaceOf={workspaceOf}
                tab={tab}
                onTab={(to) => onGo(to === 'status' ? { destination: opened } : { destination: opened, tab: to })}
                onDeleted={() => onGo({})}
              />
            )
          )
        }
      </Loaded>
    </SidePanel>
  )
}
