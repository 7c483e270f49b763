import { Anchor, Paper, Progress, SimpleGrid, Skeleton, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../api/hooks.ts'
import { count, gauge } from '../../lib/format.ts'
import { creditsShown, deliveryShown, failedShown, keysShown } from './account-words.ts'
import { useDestinations, useFailed, useKeys, type Listed, type Workspace } from './reads.ts'

export interface AccountProps {
  readonly workspaces: UseQueryResult<Listed<Workspace>>
}

/** Credits, failures, keys, workspaces and destinations of the gateway, each with a link to its page. */
export function Account({ workspaces }: AccountProps): ReactNode {
  const credits = useRead('GET /api/v1/credits')
  const failed = useFailed()
  const keys = useKeys(workspaces.data?.found)
  const destinations = useDestinations(workspaces.data?.found)
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
      <Tile label="Credits" of={credits}>
        {({ data }) => {
          const { value, about, share } = creditsShown(data)
          return (
            <>
              <Value value={value} about={about} />
              {share !== undefined && <Progress value={gauge(share)} size="xs" mt={4} aria-label="Share of the credits spent" />}
            </>
          )
        }}
      </Tile>
      <Tile label="Failed calls" href="/generations?status=failed&span=24h" of={failed}>
        {(data) => <Value {...failedShown(data)} />}
      </Tile>
      <Tile label="Keys" href="/keys" of={{ data: keys.data, error: keys.error ?? workspaces.error }}>
        {(data) => <Value {...keysShown(data)} />}
      </Tile>
      <Tile label="Workspaces" href="/workspaces" of={workspaces}>
        {({ found, isPart }) => <Value value={isPart ? `${count(found.length)} or more` : count(found.length)} />}
      </Tile>
      <Tile label="Destinations" href="/destinations" of={{ data: destinations.data, error: destinations.error ?? workspaces.error }}>
        {(data) => <Value {...deliveryShown(data)} />}
      </Tile>
    </SimpleGrid>
  )
}

interface TileProps<T> {
  readonly label: string
  readonly href?: string
  readonly of: Pick<UseQueryResult<T>, 'data' | 'error'>
  readonly children: (data: T) => ReactNode
}

function Tile<T>({ label, href, of: { data, error }, children }: TileProps<T>): ReactNode {
  const isLoading = data === undefined && error === null
  return (
    <Paper withBorder px="sm" py="xs" component="section" aria-label={label} aria-busy={isLoading}>
      {href === undefined ? (
        <Text size="xs" c="dimmed" fw={500}>
          {label}
        </Text>
      ) : (
        <Anchor component={Link} href={href} size="xs" fw={500} display="block" aria-label={`${label}: open the page`}>
          {label}
        </Anchor>
      )}
      {data !== undefined && children(data)}
      {isLoading && <Skeleton h={20} mt={4} />}
      {data === undefined && error !== null && <Text size="xs">{error.message}</Text>}
    </Paper>
  )
}

interface ValueProps {
  readonly value: string
  readonly about?: string | undefined
  readonly isTrouble?: boolean
}

function Value({ value, about, isTrouble = false }: ValueProps): ReactNode {
  return (
    <Text component="div" size="sm" style={{ fontVariantNumeric: 'tabular-nums' }}>
      {value}
      {about !== undefined && (
        <Text span size="xs" c={isTrouble ? 'red' : 'dimmed'} fw={isTrouble ? 600 : 400} ml={8}>
          {about}
        </Text>
      )}
    </Text>
  )
}
