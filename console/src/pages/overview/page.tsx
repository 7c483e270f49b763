import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { useAddress } from '../../ui/address.ts'
import { Account } from './account.tsx'
import { Activity } from './days.tsx'
import { filterOf, Filters, NO_FILTER } from './filters.tsx'
import { FirstCall } from './no-calls.tsx'
import { useWorkspaces } from './reads.ts'

const READ_AGAIN_MS = 60_000
const ABOUT =
  'Traffic of this gateway. Days begin at midnight UTC. Today is compared with the mean of the previous days, and the last seven full days with the seven before them.'

export default function OverviewPage(): ReactNode {
  const address = useAddress()
  const { workspace, key } = filterOf(address)
  const workspaces = useWorkspaces()
  const isFiltered = workspace !== undefined || key !== undefined
  const activity = useRead('GET /api/v1/activity', { query: { workspace_id: workspace, api_key_hash: key } }, { every: READ_AGAIN_MS })
  // Placeholder data has no time of its own while other rows are loading.
  const [opened] = useState(() => Date.now())
  const now = Math.max(opened, activity.dataUpdatedAt)
  const isNew = activity.data?.data.length === 0 && !isFiltered && !activity.isPlaceholderData
  return (
    <Page title="Overview" about={ABOUT}>
      <Account workspaces={workspaces} />
      {!isNew && <Filters address={address} workspaces={workspaces.data?.found ?? []} />}
      <Loaded of={activity}>
        {({ data }) =>
          data.length > 0 ? (
            <Activity rows={data} now={now} address={address} />
          ) : isFiltered ? (
            <NothingFound onClear={() => address.set(NO_FILTER)} />
          ) : (
            <FirstCall />
          )
        }
      </Loaded>
    </Page>
  )
}

function NothingFound({ onClear }: { readonly onClear: () => void }): ReactNode {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="sm">
        <Text size="sm" c="dimmed" ta="center">
          No calls of this workspace or key in the last 30 days.
        </Text>
        <Group>
          <Button size="xs" variant="default" onClick={onClear}>
            Show all calls
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
