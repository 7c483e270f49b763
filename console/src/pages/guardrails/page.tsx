import { Badge, Button, Group, Pagination, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { useWorkspaces } from '../../api/workspaces.ts'
import { moment } from '../../lib/format.ts'
import { useAddress } from '../../ui/address.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { WorkspaceSelect } from '../../ui/workspace-select.tsx'
import { Creator, Editor, type Guardrail, type Workspace } from './editor.tsx'
import { summaryOf } from './form.ts'
import type { RuleField } from './rule-schema.ts'
import { useRules } from './use-rules.ts'

const NEW = 'new'
const PAGE = 50

export default function GuardrailsPage(): ReactNode {
  const { get, set } = useAddress()
  const open = get('open')
  const { workspaces: all, own } = useWorkspaces()
  // Without a workspace in the URL it is the key's own, as for the gateway.
  const workspace = get('workspace')
  const workspaceId = workspace ?? own ?? ''
  const offset = Math.max(0, Number(get('offset')) || 0)
  const guardrails = useRead('GET /api/v1/guardrails', { query: { limit: PAGE, offset, workspace_id: workspace } })
  const rules = useRules()
  const elsewhere = (id: string): string | undefined => (id === own ? undefined : id)
  const close = (): void => set({ open: undefined })
  return (
    <Page
      title="Guardrails"
      about="Rules for calls: every call must follow its workspace's default guardrail and the one assigned to its key."
      actions={<Button onClick={() => set({ open: NEW }, 'push')}>New guardrail</Button>}
    >
      <WorkspaceSelect workspaces={all} value={workspaceId} onChange={(id) => set({ workspace: elsewhere(id), offset: undefined })} />
      <Loaded of={rules}>
        {(fields) => (
          <>
            <Loaded of={guardrails}>
              {({ data, total_count: total }) => (
                <>
                  <List
                    guardrails={data}
                    workspaces={all}
                    fields={fields}
                    onOpen={(id) => set({ open: id }, 'push')}
                    onBack={total === 0 ? undefined : () => set({ offset: undefined })}
                  />
                  {total > PAGE && (
                    <Pagination
                      aria-label="Pages"
                      total={Math.ceil(total / PAGE)}
                      value={Math.floor(offset / PAGE) + 1}
                      onChange={(page) => set({ offset: String((page - 1) * PAGE) }, 'push')}
                      getControlProps={(control) => ({ 'aria-label': `${control} page` })}
                    />
                  )}
                </>
              )}
            </Loaded>
            <SidePanel opened={open !== undefined} onClose={close} size={780} title={open === NEW ? 'New guardrail' : 'Guardrail'}>
              {open === NEW && (
                <Creator
                  fields={fields}
                  workspaces={all}
                  workspaceId={workspaceId}
                  onCreated={({ id, workspace_id: at }) => set({ open: id, workspace: elsewhere(at), offset: undefined }, 'push')}
                />
              )}
              {open !== undefined && open !== NEW && <Opened key={open} id={open} fields={fields} workspaces={all} onClose={close} />}
            </SidePanel>
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
  /** Defined if there are earlier entries. */
  readonly onBack: (() => void) | undefined
}

function List({ guardrails, workspaces, fields, onOpen, onBack }: ListProps): ReactNode {
  const name = (guardrail: Guardrail): ReactNode => (
    <Group gap={8}>
      <Text size="sm" style={{ wordBreak: 'break-word' }} miw={140}>
        {guardrail.name}
      </Text>
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
      empty={
        onBack === undefined ? (
          'No guardrails yet.'
        ) : (
          <>
            This page does not exist.{' '}
            <Button variant="subtle" size="compact-sm" onClick={onBack}>
              Show the first
            </Button>
          </>
        )
      }
      columns={[
        { header: 'Name', cell: name },
        { header: 'Rules', cell: rules },
        { header: 'Updated', cell: (guardrail) => moment(guardrail.updated_at ?? guardrail.created_at), isFigure: true },
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
