import { Button, Group, MultiSelect, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Answer, Api } from '../../api/client.ts'
import { useApi, useChange, useRead } from '../../api/hooks.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useUnsaved } from '../../ui/unsaved.tsx'

export interface KeysSectionProps {
  readonly id: string
  readonly workspaceId: string
}

const OUTDATES = ['GET /api/v1/guardrails/{id}/assignments/keys', 'GET /api/v1/guardrails/assignments/keys'] as const
const PAGE = 100

type Assignment = Answer<'GET /api/v1/guardrails/{id}/assignments/keys'>['data'][number]

/** The keys a guardrail acts on. */
export function KeysSection({ id, workspaceId }: KeysSectionProps): ReactNode {
  const assigned = useRead('GET /api/v1/guardrails/{id}/assignments/keys', { params: { id }, query: { limit: PAGE } })
  const remove = useChange('POST /api/v1/guardrails/{id}/assignments/keys/remove', OUTDATES)
  const takeAway = ({ key_hash: hash, key_name: name, key_label: label }: Assignment): ReactNode => (
    <Button
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={`Take away ${name === '' ? label : name}`}
      loading={remove.isPending && remove.variables.body.key_hashes[0] === hash}
      onClick={() => remove.mutate({ params: { id }, body: { key_hashes: [hash] } })}
    >
      Take away
    </Button>
  )
  return (
    <Stack gap="sm" component="section" aria-label="Keys">
      <Title order={2}>Keys</Title>
      <Loaded of={assigned}>
        {({ data, total_count: total }) => (
          <>
            <DataTable
              label="Keys under this guardrail"
              rows={data}
              keyOf={({ key_hash: hash }) => hash}
              empty="It acts on no key yet. Choose some below."
              columns={[
                { header: 'Name', cell: ({ key_name: name }) => (name === '' ? 'a revoked key' : name) },
                { header: 'Key', cell: ({ key_label: label, key_hash: hash }) => (label === '' ? hash.slice(0, 12) : label) },
                {
                  header: '',
                  cell: takeAway,
                },
              ]}
            />
            {total > data.length && (
              <Text size="sm" c="dimmed">
                The first {data.length} of {total}.
              </Text>
            )}
            <Assign id={id} workspaceId={workspaceId} assigned={new Set(data.map(({ key_hash: hash }) => hash))} />
          </>
        )}
      </Loaded>
      <Problem error={remove.error} />
    </Stack>
  )
}

type Key = Answer<'GET /api/v1/keys'>['data'][number]

/** Every key of a workspace, page by page. */
async function everyKey(api: Api, workspaceId: string, signal: AbortSignal): Promise<readonly Key[]> {
  const keys: Key[] = []
  for (;;) {
    const { data } = await api('GET /api/v1/keys', { query: { workspace_id: workspaceId, offset: keys.length } }, signal)
    keys.push(...data)
    if (data.length < PAGE) return keys
  }
}

interface AssignProps extends KeysSectionProps {
  readonly assigned: ReadonlySet<string>
}

function Assign({ id, workspaceId, assigned }: AssignProps): ReactNode {
  const api = useApi()
  const keys = useQuery({ queryKey: ['GET /api/v1/keys', 'every', workspaceId], queryFn: ({ signal }) => everyKey(api, workspaceId, signal) })
  const assign = useChange('POST /api/v1/guardrails/{id}/assignments/keys', OUTDATES)
  const [chosen, setChosen] = useState<readonly string[]>([])
  useUnsaved(chosen.length > 0)
  const free = (keys.data ?? []).filter(({ hash }) => !assigned.has(hash))
  return (
    <>
      <Problem error={keys.error} />
      <Group align="flex-end" wrap="nowrap">
        <MultiSelect
          flex={1}
          label="Assign keys"
          description="A key has one guardrail beside its workspace's: one it had is replaced."
          placeholder={chosen.length === 0 ? 'Search keys' : undefined}
          searchable
          limit={100}
          data={free.map(({ hash, name, label }) => ({ value: hash, label: `${name} (${label})` }))}
          value={[...chosen]}
          onChange={setChosen}
          nothingFoundMessage="No other key in this workspace"
        />
        <Button
          disabled={chosen.length === 0}
          loading={assign.isPending}
          onClick={() => assign.mutate({ params: { id }, body: { key_hashes: chosen } }, { onSuccess: () => setChosen([]) })}
        >
          Assign
        </Button>
      </Group>
      <Problem error={assign.error} />
    </>
  )
}
