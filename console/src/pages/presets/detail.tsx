import { Divider, Group, Select, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange, useRead } from '../../api/hooks.ts'
import type { Preset, PresetVersion } from '../../api/schema.ts'
import { afterSave, isChanged } from '../../lib/changes.ts'
import { refusalAt, refusalElsewhere } from '../../lib/fields.ts'
import { moment } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copyable.tsx'
import { EditForm } from '../../ui/edit-form.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { ContentFields } from './fields.tsx'
import { contentChanges, contentFormOf, curlOf, isSameContent, parseConfig, presetChanges, presetFormOf, refusalOfConfig } from './form.ts'
import { OUTDATED, type PresetAddress } from './outdated.ts'
import { Versions } from './versions.tsx'

export interface PresetDetailProps {
  /** '' if no preset is open. */
  readonly slug: string
  /** '' is the key's own. */
  readonly workspaceId: string
  readonly onClose: () => void
}

export function PresetDetail({ slug, workspaceId, onClose }: PresetDetailProps): ReactNode {
  const at: PresetAddress = { params: { slug }, query: workspaceId === '' ? {} : { workspace_id: workspaceId } }
  return (
    <SidePanel title="Preset" opened={slug !== ''} onClose={onClose} size={680}>
      {slug !== '' && <Opened key={`${workspaceId} ${slug}`} {...at} onClose={onClose} />}
    </SidePanel>
  )
}

interface OpenedProps extends PresetAddress {
  readonly onClose: () => void
}

function Opened({ params, query, onClose }: OpenedProps): ReactNode {
  const at = { params, query }
  const read = useRead('GET /api/v1/presets/{slug}', at)
  return (
    <Loaded of={read}>
      {({ data: preset }) => (
        <Stack>
          <About of={preset} at={at} onDeleted={onClose} />
          <Divider />
          <Details of={preset} at={at} onArchived={onClose} />
          <Divider />
          <NewVersion of={preset.designated_version} at={at} />
          <Divider />
          <Versions {...at} designated={preset.designated_version_id} />
        </Stack>
      )}
    </Loaded>
  )
}

interface PartProps {
  readonly of: Preset
  readonly at: PresetAddress
}

function About({ of: preset, at, onDeleted }: PartProps & { readonly onDeleted: () => void }): ReactNode {
  // The preset is gone afterwards, and must not be read again.
  const remove = useChange('DELETE /api/v1/presets/{slug}', ['GET /api/v1/presets'])
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Text fw={600} style={{ wordBreak: 'break-word' }}>
          {preset.name}
        </Text>
        <Confirm label="Delete" title={`Delete ${preset.name}?`} onConfirm={() => remove.mutateAsync(at)} onDone={onDeleted}>
          This also deletes all its versions, and requests that name it will be refused. To stop it temporarily, disable it instead.
        </Confirm>
      </Group>
      <Facts
        label="About the preset"
        of={[
          ['Slug', <code key="slug">{preset.slug}</code>],
          ['Id', <code key="id">{preset.id}</code>],
          ['Created', moment(preset.created_at)],
          ['Updated', moment(preset.updated_at)],
        ]}
      />
      <Text size="sm" fw={500}>
        Example request
      </Text>
      <Copyable value={curlOf(location.origin, preset.slug)} label="a request with the preset" />
      <Text size="xs" c="dimmed" style={{ wordBreak: 'break-word' }}>
        To use another model: <code>{`"model": "author/model@preset/${preset.slug}"`}</code>, or add <code>{`"preset": "${preset.slug}"`}</code>.
      </Text>
    </Stack>
  )
}

const STATUSES: readonly { readonly value: Preset['status']; readonly label: string }[] = [
  { value: 'active', label: 'active: requests can use it' },
  { value: 'disabled', label: 'disabled: requests that name it are refused' },
  { value: 'archived', label: 'archived: not listed until it is saved again' },
]
const PATHS = ['name', 'description', 'status'] as const

function Details({ of: preset, at, onArchived }: PartProps & { readonly onArchived: () => void }): ReactNode {
  // The state when it was opened: changes by others do not count as changes in this form.
  const [before, setBefore] = useState(preset)
  const [form, setForm] = useState(() => presetFormOf(before))
  // The panel stays open, because closing it would discard what is typed for a new version.
  const onSaved = (saved: Preset): void => {
    if (saved.status === 'archived') return onArchived()
    setBefore(saved)
    setForm((now) => afterSave(form, now, presetFormOf(saved)))
  }
  // An archived preset is gone, and must not be read again.
  const change = useChange('PATCH /api/v1/presets/{slug}', form.status === 'archived' ? ['GET /api/v1/presets'] : OUTDATED)
  const { error } = change
  const body = presetChanges(before, form)
  return (
    <EditForm
      label="Edit preset"
      action="Save"
      busy={change.isPending}
      problem={refusalElsewhere(error, PATHS)}
      disabled={Object.keys(body).length === 0}
      unsaved={isChanged(presetFormOf(before), form)}
      onSubmit={() => change.mutate({ ...at, body }, { onSuccess: ({ data }) => onSaved(data) })}
    >
      <TextInput
        label="Name"
        value={form.name}
        onChange={(event) => setForm({ ...form, name: event.currentTarget.value })}
        error={refusalAt(error, 'name')}
        autoComplete="off"
      />
      <Textarea
        label="Description"
        value={form.description}
        onChange={(event) => setForm({ ...form, description: event.currentTarget.value })}
        error={refusalAt(error, 'description')}
        autosize
        minRows={1}
        maxRows={5}
      />
      <Select
        label="Status"
        data={STATUSES}
        value={form.status}
        onChange={(status) => setForm({ ...form, status: status ?? form.status })}
        error={refusalAt(error, 'status')}
        allowDeselect={false}
      />
    </EditForm>
  )
}

function NewVersion({ of: version, at }: { readonly of: PresetVersion; readonly at: PresetAddress }): ReactNode {
  const [base, setBase] = useState(version)
  const [form, setForm] = useState(() => contentFormOf(version))
  const begin = (from: PresetVersion): void => {
    setBase(from)
    setForm(contentFormOf(from))
  }
  const savedAs = (saved: PresetVersion): void => {
    setBase(saved)
    setForm((now) => afterSave(form, now, contentFormOf(saved)))
  }
  // Another version has become current. If nothing was typed, the form starts from it; otherwise the input stays, relative to the version it was based on.
  if (version.id !== base.id && isSameContent(form, contentFormOf(base))) begin(version)
  const change = useChange('PATCH /api/v1/presets/{slug}', OUTDATED)
  const { config } = parseConfig(form.config)
  const body = config === undefined ? {} : contentChanges(base, form.prompt, config)
  const elsewhere = refusalOfConfig(change.error) === undefined ? refusalElsewhere(change.error, ['system_prompt']) : null
  return (
    <Stack gap="sm">
      <Title order={2}>Settings</Title>
      <EditForm
        label="New version"
        action="Save as a new version"
        busy={change.isPending}
        problem={elsewhere}
        disabled={Object.keys(body).length === 0}
        unsaved={!isSameContent(form, contentFormOf(base))}
        onSubmit={() => change.mutate({ ...at, body }, { onSuccess: ({ data }) => savedAs(data.designated_version) })}
      >
        <ContentFields form={form} onChange={(next) => setForm({ ...form, ...next })} error={change.error} />
      </EditForm>
    </Stack>
  )
}
