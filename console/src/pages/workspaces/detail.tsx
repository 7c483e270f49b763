import { Anchor, Divider, Group, Stack, Text } from '@mantine/core'
import { useState, type MouseEvent, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { useChange, useRead, useReadNow } from '../../api/hooks.ts'
import type { Workspace } from '../../api/schema.ts'
import { afterSave, isChanged } from '../../lib/changes.ts'
import { mergedRates, refusalElsewhere } from '../../lib/fields.ts'
import { moment } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { EditForm } from '../../ui/edit-form.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { useDone, useLeaving } from '../../ui/unsaved.tsx'
import { BudgetEditor } from './budget-editor.tsx'
import { WORKSPACE_PATHS, WorkspaceFields } from './fields.tsx'
import { workspaceChanges, workspaceFormOf } from './form.ts'

export interface WorkspaceDetailProps {
  /** '' if none is open. */
  readonly id: string
  readonly onClose: () => void
}

/** One workspace: its budgets, and the settings for its calls. */
export function WorkspaceDetail({ id, onClose }: WorkspaceDetailProps): ReactNode {
  return (
    <SidePanel title="Workspace" opened={id !== ''} onClose={onClose} size={560}>
      {id !== '' && <Opened key={id} id={id} onClose={onClose} />}
    </SidePanel>
  )
}

function Opened({ id, onClose }: WorkspaceDetailProps): ReactNode {
  const read = useRead('GET /api/v1/workspaces/{id}', { params: { id } })
  return (
    <Loaded of={read}>
      {({ data: workspace }) => (
        <Stack>
          <About of={workspace} onDeleted={onClose} />
          <BudgetEditor of={workspace} />
          <Divider />
          <Editor of={workspace} />
        </Stack>
      )}
    </Loaded>
  )
}

function About({ of: workspace, onDeleted }: { readonly of: Workspace; readonly onDeleted: () => void }): ReactNode {
  const { id, name, slug } = workspace
  // The workspace is gone afterwards, and must not be read again.
  const remove = useChange('DELETE /api/v1/workspaces/{id}', ['GET /api/v1/workspaces', 'GET /api/v1/keys'])
  return (
    <Stack gap="xs">
      <Text fw={600} style={{ wordBreak: 'break-word' }}>
        {name}
      </Text>
      <Facts
        label="About the workspace"
        of={[
          ['Id', <code key="id">{id}</code>],
          ['Default guardrail', <code key="guardrail">{workspace.default_guardrail_id}</code>],
          ['Created', moment(workspace.created_at)],
          ['Created by', workspace.created_by],
          ['Updated', workspace.updated_at === null ? null : moment(workspace.updated_at)],
        ]}
      />
      <Group gap="md">
        <Elsewhere href={`/keys?workspace=${encodeURIComponent(id)}`}>Its keys</Elsewhere>
        <Elsewhere href={`/provider-keys?workspace=${encodeURIComponent(id)}`}>Its provider keys</Elsewhere>
        <Confirm label="Delete" title={`Delete ${name}?`} phrase={slug} onConfirm={() => remove.mutateAsync({ params: { id } })} onDone={onDeleted}>
          This revokes its keys and deletes its budgets, provider keys, presets, guardrails and destinations. It cannot be undone.
        </Confirm>
      </Group>
    </Stack>
  )
}

/** A link to another page, which asks first if unsaved input would be lost. */
function Elsewhere({ href, children }: { readonly href: string; readonly children: ReactNode }): ReactNode {
  const leaving = useLeaving()
  const [, go] = useLocation()
  const onClick = (event: MouseEvent): void => {
    event.preventDefault()
    leaving(() => go(href))
  }
  return (
    <Anchor component={Link} href={href} size="sm" onClick={onClick}>
      {children}
    </Anchor>
  )
}

const OUTDATED = ['GET /api/v1/workspaces', 'GET /api/v1/workspaces/{id}'] as const

function Editor({ of: workspace }: { readonly of: Workspace }): ReactNode {
  // The state when it was opened: changes by others do not count as changes in this form.
  const [before, setBefore] = useState(workspace)
  const [form, setForm] = useState(() => workspaceFormOf(before))
  const readNow = useReadNow()
  const change = useChange('PATCH /api/v1/workspaces/{id}', OUTDATED, async ({ params, body }) => {
    if (body?.rate_limits === undefined) return { params, body }
    const { data: now } = await readNow('GET /api/v1/workspaces/{id}', { params })
    return { params, body: { ...body, rate_limits: mergedRates(before.rate_limits, body.rate_limits, now.rate_limits) } }
  })
  const body = workspaceChanges(before, form)
  const done = useDone()
  const onSuccess = ({ data }: { readonly data: Workspace }): void => {
    setBefore(data)
    setForm((now) => afterSave(form, now, workspaceFormOf(data)))
    done()
  }
  return (
    <EditForm
      label="Edit workspace"
      action="Save"
      busy={change.isPending}
      problem={refusalElsewhere(change.error, WORKSPACE_PATHS)}
      disabled={Object.keys(body).length === 0}
      unsaved={isChanged(workspaceFormOf(before), form)}
      onSubmit={() => change.mutate({ params: { id: workspace.id }, body }, { onSuccess })}
    >
      <WorkspaceFields form={form} onChange={(next) => setForm({ ...form, ...next })} error={change.error} workspaceId={workspace.id} />
    </EditForm>
  )
}
