import { Badge, Button, Group, Select, Stack, Text, Title } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange } from '../../api/hooks.ts'
import { usePages } from '../../api/pages.ts'
import type { PresetVersion } from '../../api/schema.ts'
import { moment } from '../../lib/format.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Problem } from '../../ui/problem.tsx'
import { DiffView } from './diff-view.tsx'
import { configText } from './form.ts'
import { OUTDATED, type PresetAddress } from './outdated.ts'

export interface VersionsProps extends PresetAddress {
  /** Id of the current version. */
  readonly designated: string
}

/** All versions of a preset: which one is current, and how two of them differ. */
export function Versions({ designated, params, query }: VersionsProps): ReactNode {
  const { of } = usePages('GET /api/v1/presets/{slug}/versions', { params, query }, { all: true })
  const change = useChange('PATCH /api/v1/presets/{slug}', OUTDATED)
  const state = ({ id, version }: PresetVersion): ReactNode =>
    id === designated ? (
      <Badge variant="light" size="sm" color="teal" miw="max-content">
        active
      </Badge>
    ) : (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Activate version ${version}`}
        loading={change.isPending && change.variables.body?.designated_version === version}
        onClick={() => change.mutate({ params, query, body: { designated_version: version } })}
      >
        Activate
      </Button>
    )
  return (
    <Stack gap="sm">
      <Title order={2}>Versions</Title>
      <Problem error={change.error} />
      <Loaded of={of}>
        {(versions) => (
          <>
            <DataTable
              label="Versions"
              rows={versions.toReversed()}
              keyOf={({ id }) => id}
              empty="No versions."
              columns={[
                { header: 'Version', cell: ({ version }) => version, isFigure: true },
                { header: 'State', cell: state },
                { header: 'Saved', cell: ({ created_at: at }) => moment(at) },
                { header: 'By', cell: ({ creator_id: by }) => by.slice(0, 12) },
              ]}
            />
            {versions.length > 1 && <Comparison key={versions.length} versions={versions} />}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function Comparison({ versions }: { readonly versions: readonly PresetVersion[] }): ReactNode {
  const [from, setFrom] = useState(versions.at(-2))
  const [to, setTo] = useState(versions.at(-1))
  const data = versions.map(({ version }) => ({ value: String(version), label: `version ${version}` })).reverse()
  const named = (value: string | null): PresetVersion | undefined => versions.find(({ version }) => String(version) === value)
  return (
    <Stack gap="xs">
      <Group gap="sm" grow>
        <Select label="Compare" data={data} value={String(from?.version)} onChange={(value) => setFrom(named(value))} allowDeselect={false} />
        <Select label="With" data={data} value={String(to?.version)} onChange={(value) => setTo(named(value))} allowDeselect={false} />
      </Group>
      {from !== undefined && to !== undefined && (
        <>
          <Text size="sm" fw={500}>
            System prompt
          </Text>
          <DiffView label="Changes of the system prompt" before={from.system_prompt ?? ''} after={to.system_prompt ?? ''} />
          <Text size="sm" fw={500}>
            Configuration
          </Text>
          <DiffView label="Changes of the configuration" before={configText(from.config)} after={configText(to.config)} />
        </>
      )}
    </Stack>
  )
}
