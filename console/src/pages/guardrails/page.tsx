import { Badge, Button, Drawer, Group, Pagination, Select, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { moment } from '../../lib/format.ts'
import { useAddress } from '../../ui/address.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { Creator, Editor, type Guardrail, type Workspace } from './editor.tsx'
import { summaryOf } from './form.ts'
import type { RuleField } from './rule-schema.ts'
import { useRules } from './use-rules.ts'

const NEW = 'new'
const PAGE = 50

export default function GuardrailsPage(): ReactNode {
  const { get, set } = useAddress()
  const open = get('open')
  const workspace = get('workspace')
  const offset = Math.max(0, Number(get('offset')) || 0)
  const guardrails = useRead('GET /api/v1/guardrails', { query: { limit: PAGE, offset, workspace_id: workspace } })
  const workspaces = useRead('GET /api/v1/workspaces', { query: { limit: 100 } })
  const rules = useRules()
  const all = workspaces.data?.data ?? []
  const close = (): void => set({ open: undefined })
  return (
    <Page
      title="Guardrails"
      about="What calls have to obey, whatever they ask for: by the default of their workspace, and by what is assigned to their key."
      actions={<Button onClick={() => set({ open: NEW }, 'push')}>New guardrail</Button>}
    >
      {all.length > 1 && (
        <Select
          label="Workspace"
          placeholder="All"
          clearable
          searchable
          w={260}
          data={all.map(({ id, name }) => ({ value: id, label: name }))}
          value={workspace ?? null}
          onChange={(next) => set({ workspace: next ?? undefined, offset: undefined })}
        />
      )}
      <Loaded of={rules}>
        {(fields) => (
          <>
            <Loaded of={guardrails}>
              {({ data, total_count: total }) => (
                <>
                  <List guardrails={data} workspaces={all} fields={fields} onOpen={(id) => set({ open: id }, 'push')} />
                  {total > PAGE && (
                    <Pagination
                      aria-label="Pages"
                      total={Math.ceil(total / PAGE)}
                      value={Math.floor(offset / PAGE) + 1}
                      onChange={(page) => set({ offset: String((page - 1) * PAGE) }, 'push')}
                    />
                  )}
                </>
              )}
            </Loaded>
            <Drawer opened={open !== undefined} onClose={close} position="right" size="xl" title={open === NEW ? 'New guardrail' : 'Guardrail'}>
              {open === NEW && <Creator fields={fields} workspaces={all} onCreated={(id) => set({ open: id }, 'push')} />}
              {open !== undefined && open !== NEW && <Opened key={open} id={open} fields={fields} workspaces={all} onClose={close} />}
            </Drawer>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const isDefault = ({ id }: Guardrail, workspaces: readonly Workspace[]): boolean =>
  workspaces.some((workspace) => workspace.default_guardrail_id === id)

interface ListProps {
  readonly guardrails: readonly Guardrail[]
  readonly workspaces: readonly Workspace[]
  readonly fields: readonly RuleField[]
  readonly onOpen: (id: string) => void
}

function List({ guardrails, workspaces, fields, onOpen }: ListProps): ReactNode {
  const nameOf = (id: string): string => workspaces.find((workspace) => workspace.id === id)?.name ?? id
  const name = (guardrail: Guardrail): ReactNode => (
    <Group gap={8}>
      <span>{guardrail.name}</span>
      {isDefault(guardrail, workspaces) && (
        <Badge size="xs" variant="light">
          Default
        </Badge>
      )}
    </Group>
  )
  const rules = (guardrail: Guardrail): ReactNode => (
    <Text size="sm" c="dimmed" lineClamp={2}>
      {summaryOf(fields, guardrail)}
    </Text>
  )
  return (
    <DataTable
      label="Guardrails"
      rows={guardrails}
      keyOf={({ id }) => id}
      onOpen={({ id }) => onOpen(id)}
      empty="There is no guardrail yet."
      columns={[
        { header: 'Name', cell: name },
        ...(workspaces.length > 1 ? [{ header: 'Workspace', cell: (guardrail: Guardrail) => nameOf(guardrail.workspace_id) }] : []),
        { header: 'Rules', cell: rules },
        { header: 'Changed', cell: (guardrail) => moment(guardrail.updated_at ?? guardrail.created_at), isFigure: true },
      ]}
    />
  )
}

interface OpenedProps {
  readonly id: string
  readonly fields: readonly RuleField[]
  readonly workspaces: readonly Workspace[]
  readonly onClose: () => void
}

function Opened({ id, fields, workspaces, onClose }: OpenedProps): ReactNode {
  const guardrail = useRead('GET /api/v1/guardrails/{id}', { params: { id } })
  return (
    <Loaded of={guardrail}>
      {({ data }) => <Editor key={data.id} fields={fields} guardrail={data} isDefault={isDefault(data, workspaces)} onDeleted={onClose} />}
    </Loaded>
  )
}
