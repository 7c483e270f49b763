import { Anchor, Button, Divider, Group, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { useChange, useRead, useReadNow } from '../../api/hooks.ts'
import type { ApiKey } from '../../api/schema.ts'
import { afterSave, isChanged } from '../../lib/changes.ts'
import { mergedRates, refusalElsewhere } from '../../lib/fields.ts'
import { minute, moment, usd } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { EditForm } from '../../ui/edit-form.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { useDone } from '../../ui/unsaved.tsx'
import { useFocusBack } from '../../ui/use-focus-back.ts'
import { KEY_PATHS, KeyFields, useExpiry } from './fields.tsx'
import { keyChanges, keyFormOf } from './form.ts'
import { LimitBar } from './limit-bar.tsx'
import { NewKey } from './new-key.tsx'
import { EarlierSecrets, RotateKey, type RotateKeyProps } from './rotate.tsx'
import { StateBadge } from './state-badge.tsx'

export interface KeyDetailProps {
  /** '' if no key is open. */
  readonly hash: string
  readonly workspaceName: (id: string) => string
  readonly onClose: () => void
}

/** One key: its spending, its limits, and whether it works. */
export function KeyDetail({ hash, workspaceName, onClose }: KeyDetailProps): ReactNode {
  // Kept outside of the panel: a secret is made even if the panel is closed meanwhile, and must be shown.
  const [secret, setSecret] = useState<string>()
  useFocusBack(secret !== undefined)
  const rotate = useChange('POST /api/v1/keys/{hash}/rotate', OUTDATED)
  const onRotate = (graceSeconds: number): Promise<void> =>
    rotate.mutateAsync({ params: { hash }, body: { grace_seconds: graceSeconds } }).then(({ key }) => setSecret(key))
  return (
    <>
      <SidePanel title="Key" opened={hash !== ''} onClose={onClose} size={520}>
        {hash !== '' && <Opened key={hash} hash={hash} workspaceName={workspaceName} onRotate={onRotate} onClose={onClose} />}
      </SidePanel>
      {secret !== undefined && <NewKey title="The new secret of this key" secret={secret} onDone={() => setSecret(undefined)} />}
    </>
  )
}

const OUTDATED = ['GET /api/v1/keys', 'GET /api/v1/keys/{hash}'] as const

function Opened({ hash, workspaceName, onRotate, onClose }: KeyDetailProps & Pick<RotateKeyProps, 'onRotate'>): ReactNode {
  const read = useRead('GET /api/v1/keys/{hash}', { params: { hash } })
  return (
    <Loaded of={read}>
      {({ data: key }) => (
        <Stack>
          <Figures of={key} workspaceName={workspaceName} />
          <EarlierSecrets of={key} />
          <Switches of={key} onRotate={onRotate} onRevoked={onClose} />
          <Divider />
          <Editor of={key} />
        </Stack>
      )}
    </Loaded>
  )
}

const Calls = ({ of: { hash, workspace_id } }: { readonly of: ApiKey }): ReactNode => (
  <Anchor component={Link} href={`/generations?${new URLSearchParams({ workspace_id, api_key_hash: hash })}`} size="sm">
    Show calls
  </Anchor>
)

function Figures({ of: key, workspaceName }: { readonly of: ApiKey; readonly workspaceName: (id: string) => string }): ReactNode {
  const own = key.byok_usage > 0 ? `${usd(key.byok_usage)} (today ${usd(key.byok_usage_daily)})` : undefined
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <Text fw={600} style={{ wordBreak: 'break-word' }}>
          {key.name}
        </Text>
        <StateBadge of={key} />
      </Group>
      <LimitBar of={key} />
      <Facts
        label="About the key"
        of={[
          ['Label', <code key="label">{key.label}</code>],
          ['Hash', <code key="hash">{key.hash}</code>],
          ['Workspace', workspaceName(key.workspace_id)],
          ['Spent today', usd(key.usage_daily)],
          ['This week', usd(key.usage_weekly)],
          ['This month', usd(key.usage_monthly)],
          ['Total', usd(key.usage)],
          ['With own provider keys', own],
          ['Created', moment(key.created_at)],
          ['Updated', key.updated_at === null ? null : moment(key.updated_at)],
          ['Last used', key.last_used_at === null ? 'never' : minute(key.last_used_at)],
          ['Expires', key.expires_at === null ? 'never' : moment(key.expires_at)],
          ['Calls', <Calls key="calls" of={key} />],
        ]}
      />
    </Stack>
  )
}

function Switches({ of: key, onRotate, onRevoked }: RotateKeyProps & { readonly onRevoked: () => void }): ReactNode {
  const params = { hash: key.hash }
  const change = useChange('PATCH /api/v1/keys/{hash}', OUTDATED)
  // The key is gone afterwards, and must not be read again.
  const revoke = useChange('DELETE /api/v1/keys/{hash}', ['GET /api/v1/keys'])
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button size="xs" variant="default" loading={change.isPending} onClick={() => change.mutate({ params, body: { disabled: !key.disabled } })}>
          {key.disabled ? 'Enable' : 'Disable'}
        </Button>
        <RotateKey of={key} onRotate={onRotate} />
        <Confirm label="Revoke" title={`Revoke ${key.name}?`} onConfirm={() => revoke.mutateAsync({ params })} onDone={onRevoked}>
          Calls with this key will be refused. This cannot be undone. Its past spending stays in the activity. To stop it temporarily, disable it
          instead.
        </Confirm>
      </Group>
      <Problem error={change.error} />
    </Stack>
  )
}

function Editor({ of: key }: { readonly of: ApiKey }): ReactNode {
  // The state when it was opened: changes by others do not count as changes in this form.
  const [before, setBefore] = useState(key)
  const [form, setForm] = useState(() => keyFormOf(before))
  const readNow = useReadNow()
  const change = useChange('PATCH /api/v1/keys/{hash}', OUTDATED, async ({ params, body }) => {
    if (body?.rate_limits === undefined) return { params, body }
    const { data: now } = await readNow('GET /api/v1/keys/{hash}', { params })
    return { params, body: { ...body, rate_limits: mergedRates(before.rate_limits, body.rate_limits, now.rate_limits) } }
  })
  const expiry = useExpiry()
  const body = keyChanges(before, form)
  const done = useDone()
  const onSuccess = ({ data }: { readonly data: ApiKey }): void => {
    setBefore(data)
    setForm((now) => afterSave(form, now, keyFormOf(data)))
    done()
  }
  return (
    <EditForm
      label="Edit key"
      action="Save"
      busy={change.isPending}
      problem={refusalElsewhere(change.error, KEY_PATHS)}
      disabled={Object.keys(body).length === 0 || form.name.trim() === ''}
      unsaved={isChanged(keyFormOf(before), form)}
      onSubmit={() => {
        if (expiry.isComplete(form.expires)) change.mutate({ params: { hash: key.hash }, body }, { onSuccess })
      }}
    >
      <KeyFields form={form} onChange={(next) => setForm({ ...form, ...next })} error={change.error} expiry={expiry} />
    </EditForm>
  )
}
