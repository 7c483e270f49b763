import { Alert, Button, Center, Checkbox, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useState, type FormEvent, type ReactNode } from 'react'
import { ApiError, createApi } from './api/client.ts'

export interface SignInProps {
  /** The key that was in use is not taken any more. */
  readonly refused: boolean
  readonly onSignedIn: (key: string, remember: boolean) => void
}

/** Asks for a management key and tries it before anything is shown. */
export function SignIn({ refused, onSignedIn }: SignInProps): ReactNode {
  const [key, setKey] = useState('')
  const [remember, setRemember] = useState(false)
  const [problem, setProblem] = useState(refused ? 'That key is not taken any more: it was revoked, or has expired.' : undefined)
  const [trying, setTrying] = useState(false)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setTrying(true)
    try {
      // Only a management key may ask this.
      await createApi({ key: key.trim() })('GET /api/v1/credits')
      onSignedIn(key.trim(), remember)
    } catch (error) {
      setProblem(sayWhy(error))
    } finally {
      setTrying(false)
    }
  }
  return (
    <Center mih="100vh" p="md">
      <Paper withBorder shadow="sm" p="xl" w={420}>
        <form onSubmit={(event) => void submit(event)}>
          <Stack>
            <Title order={1}>Signalbox</Title>
            <Text size="sm" c="dimmed">
              Sign in with a management key. The gateway printed one at its first start;{' '}
              <code>npm run signalbox -- keys create --management --name NAME</code> makes another.
            </Text>
            <PasswordInput
              label="Management key"
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              autoComplete="off"
              required
              data-autofocus
            />
            <Checkbox
              label="Stay signed in on this computer"
              description="Otherwise the key is forgotten with this tab."
              checked={remember}
              onChange={(event) => setRemember(event.currentTarget.checked)}
            />
            {problem !== undefined && (
              <Alert color="red" role="alert">
                {problem}
              </Alert>
            )}
            <Button type="submit" loading={trying} disabled={key.trim() === ''}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}

function sayWhy(error: unknown): string {
  if (!(error instanceof ApiError)) return 'That did not work.'
  if (error.status === 401) return 'The gateway does not know this key.'
  if (error.status === 403) return 'This is an inference key. The console needs a management key.'
  return error.message
}
