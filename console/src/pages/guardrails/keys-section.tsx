import { Button, Group, MultiSelect, Stack, Text, Title } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { Answer } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { usePages } from '../../api/pages.ts'
import { count } from '../../lib/format.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { MOST_OPTIONS } from '../../ui/most-options.ts'
import { Problem } from '../../ui/problem.tsx'
import { useUnsaved } from '../../ui/unsaved.tsx'

export interface KeysSectionProps {
  readonly id: string
  readonly workspaceId: string
}

const OUTDATES = ['GET /api/v1/guardrails/{id}/assignments/keys', 'GET /api/v1/guardrails/assignments/keys'] as const
/** Rows rendered at a time: a workspace may have thousands of keys. */
const DRAWN = 100

type Assignment = Answer<'GET /api/v1/guardrails/{id}/assignments/keys'>['data'][number]

/** The keys that a guardrail applies to. */
export function KeysSection({ id, workspaceId }: KeysSectionProps): ReactNode {
  const { of: assigned } = usePages('GET /api/v1/guardrails/{id}/assignments/keys', { params: { id } }, { all: true })
  const [drawn, setDrawn] = useState(DRAWN)
  const remove = useChange('POST /api/v1/guardrails/{id}/assignments/keys/remove', OUTDATES)
  const takeAway = ({ key_hash: hash, key_name: name, key_label: label }: Assignment): ReactNode => (
    <Button
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={`Remove ${name === '' ? label : name}`}
      loading={remove.isPending && remove.variables.body.key_hashes[0] === hash}
      onClick={() => remove.mutate({ params: { id }, body: { key_hashes: [hash] } })}
    >
      Remove
    </Button>
  )
  return (
    <Stack gap="sm" component="section" aria-label="Keys">
      <Title order={2}>Keys</Title>
      <Loaded of={assigned}>
        {(data) => (
          <>
            <DataTable
              label="Keys with this guardrail"
              rows={data.slice(0, drawn)}
              keyOf={({ key_hash: hash }) => hash}
              empty="No keys yet. Choose some below."
              columns={[
                { header: 'Name', cell: ({ key_name: name }) => (name === '' ? 'a revoked key' : name) },
                { header: 'Key', cell: ({ key_label: label, key_hash: hash }) => (label === '' ? hash.slice(0, 12) : label) },
                {
                  header: '',
                  cell: takeAway,
                },
              ]}
            />
            {data.length > drawn && (
              <Group justify="center" gap="sm">
                <Text size="sm" c="dimmed">
                  The first {count(drawn)} of {count(data.length)}.
                </Text>
                <Button size="xs" variant="default" onClick={() => setDrawn(drawn + DRAWN)}>
                  Show more
                </Button>
              </Group>
            )}
            <Assign id={id} workspaceId={workspaceId} assigned={new Set(data.map(({ key_hash: hash }) => hash))} />
          </>
        )}
      </Loaded>
      <Problem error={remove.error} />
    </Stack>
  )
}

interface AssignProps extends KeysSectionProps {
  readonly assigned: ReadonlySet<string>
}

function Assign({ id, workspaceId, assigned }: AssignProps): ReactNode {
  const { of: keys, hasMore } = usePages('GET /api/v1/keys', { query: { include_disabled: 'true', workspace_id: workspaceId } }, { all: true })
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
          description="A key can have one guardrail besides its workspace's. Assigning another one replaces it."
          placeholder={chosen.length === 0 ? 'Search keys' : undefined}
          searchable
          limit={MOST_OPTIONS}
          data={free.map(({ hash, name, label }) => ({ value: hash, label: `${name} (${label})` }))}
          value={[...chosen]}
          onChange={setChosen}
          nothingFoundMessage={hasMore ? 'Searching …' : 'No other key in this workspace'}
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
