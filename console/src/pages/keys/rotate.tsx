import { Select, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange } from '../../api/hooks.ts'
import type { ApiKey } from '../../api/schema.ts'
import { minute } from '../../lib/format.ts'
import { Confirm } from '../../ui/confirm.tsx'

const OUTDATED = ['GET /api/v1/keys', 'GET /api/v1/keys/{hash}'] as const
const HOUR = 3_600
const GRACES: readonly { readonly value: string; readonly label: string }[] = [
  { value: '0', label: 'not at all: it stops at once' },
  { value: String(HOUR), label: 'one hour' },
  { value: String(24 * HOUR), label: 'one day' },
  { value: String(7 * 24 * HOUR), label: 'one week' },
  { value: String(30 * 24 * HOUR), label: '30 days' },
]

export interface RotateKeyProps {
  readonly of: ApiKey
  /** Takes how many seconds earlier secrets still work; rejects if it was refused. */
  readonly onRotate: (graceSeconds: number) => Promise<void>
}

export function RotateKey({ of: key, onRotate }: RotateKeyProps): ReactNode {
  const [grace, setGrace] = useState(String(24 * HOUR))
  return (
    <Confirm label="Rotate" title={`Rotate ${key.name}?`} onConfirm={() => onRotate(Number(grace))}>
      <Stack>
        The key gets a new secret. Its name, hash, limits, spending and history stay.
        <Select
          label="How long the secret in use now still works"
          data={GRACES}
          value={grace}
          onChange={(value) => setGrace(value ?? grace)}
          allowDeselect={false}
        />
      </Stack>
    </Confirm>
  )
}

/** Earlier secrets that still work, and whether anybody uses them. */
export function EarlierSecrets({ of: key }: { readonly of: ApiKey }): ReactNode {
  const end = useChange('DELETE /api/v1/keys/{hash}/previous-secrets', OUTDATED)
  const earlier = key.previous_secrets ?? []
  if (earlier.length === 0) return null
  return (
    <Stack gap="xs" align="flex-start">
      {earlier.map(({ label, expires_at: expires, last_used_at: used }) => (
        <Text key={label} size="sm">
          Until {minute(expires)} its earlier secret <code>{label}</code> works, too;{' '}
          {used === null ? 'never used so far' : `last used ${minute(used)}`}.
        </Text>
      ))}
      <Confirm label="End now" title="End earlier secrets?" onConfirm={() => end.mutateAsync({ params: { hash: key.hash } })}>
        Calls with earlier secrets of {key.name} will be refused. Only the newest one will work.
      </Confirm>
    </Stack>
  )
}
