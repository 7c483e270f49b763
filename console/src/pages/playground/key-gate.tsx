import { Button, NumberInput, Paper, Select, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'
import { ApiError, createApi } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { useWorkspaces } from '../../api/workspaces.ts'
import { Problem } from '../../ui/problem.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { dayKeyBody } from './day-key.ts'

export interface KeyGateProps {
  readonly onKey: (key: string) => void
}

/** A management key cannot call models: asks for an inference key, or creates one that can do little harm. */
export function KeyGate({ onKey }: KeyGateProps): ReactNode {
  return (
    <Stack>
      <Text size="sm">
        You are signed in with a management key, which cannot call models. The playground needs an inference key and keeps it only in this tab.
      </Text>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Paper withBorder p="lg">
          <Make onKey={onKey} />
        </Paper>
        <Paper withBorder p="lg">
          <Paste onKey={onKey} />
        </Paper>
      </SimpleGrid>
    </Stack>
  )
}

function Make({ onKey }: Pick<KeyGateProps, 'onKey'>): ReactNode {
  const { workspaces: choices, own } = useWorkspaces()
  const make = useChange('POST /api/v1/keys', ['GET /api/v1/keys'])
  const [limit, setLimit] = useState<number | string>(1)
  const [workspace, setWorkspace] = useState<string | null>(null)
  const isRight = dayKeyBody(limit, workspace, 0) !== undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const body = dayKeyBody(limit, workspace, Date.now())
    if (body !== undefined) make.mutate({ body }, { onSuccess: ({ key }) => onKey(key) })
  }
  return (
    <form onSubmit={submit}>
      <Stack align="stretch">
        <Title order={2}>Create a key for one day</Title>
        <NumberInput
          label="Limit in USD"
          description="The most it may spend. The key expires after 24 hours and stays in the list of keys until you revoke it."
          min={0}
          step={1}
          decimalScale={4}
          value={limit}
          onChange={setLimit}
          error={isRight ? undefined : 'Enter more than 0.'}
        />
        {choices.length > 1 && (
          <Select
            label="Workspace"
            data={choices.map(({ id, name }) => ({ value: id, label: name }))}
            value={workspace ?? own ?? null}
            onChange={setWorkspace}
            allowDeselect={false}
          />
        )}
        <Problem error={make.error} />
        <Button type="submit" loading={make.isPending}>
          Create and use the key
        </Button>
      </Stack>
    </form>
  )
}

function Paste({ onKey }: Pick<KeyGateProps, 'onKey'>): ReactNode {
  const [key, setKey] = useState('')
  const look = useMutation({
    mutationFn: async () => {
      const { data } = await createApi({ key: key.trim() })('GET /api/v1/key')
      if (data.is_management_key) throw new Error('This is a management key. It cannot call models.')
    },
    onSuccess: () => onKey(key.trim()),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (key.trim() !== '') look.mutate()
  }
  const { error } = look
  const reason = error instanceof ApiError && error.status === 401 ? 'The gateway does not accept this key.' : error?.message
  return (
    <form onSubmit={submit}>
      <Stack align="stretch">
        <Title order={2}>Use an existing key</Title>
        <SecretInput
          label="Inference key"
          description="It is sent only to this gateway."
          placeholder="sk-sb-v1-..."
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={reason}
        />
        <Button type="submit" variant="default" disabled={key.trim() === ''} loading={look.isPending}>
          Use this key
        </Button>
      </Stack>
    </form>
  )
}
