import { Alert, Button, Center, Checkbox, Modal, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useState, type FormEvent, type ReactNode } from 'react'
import { ApiError, createApi } from './api/client.ts'

/** `workspace`: id of the key's own workspace. */
type OnSignedIn = (key: string, remember: boolean, workspace: string) => void

export interface SignInProps {
  /** The previous key is no longer accepted. */
  readonly refused: boolean
  readonly onSignedIn: OnSignedIn
}

/** The sign-in page, without anything else. */
export function SignIn({ refused, onSignedIn }: SignInProps): ReactNode {
  useDocumentTitle('Sign in · Signalbox')
  return (
    <Center mih="100vh" p="md">
      <Paper withBorder shadow="sm" p="xl" w={420}>
        <KeyForm
          problem={refused ? 'This key is no longer accepted: it was revoked or has expired.' : undefined}
          onSignedIn={onSignedIn}
          about={
            <>
              <Title order={1}>Signalbox</Title>
              <Text size="sm" c="dimmed">
                Sign in with a management key. The gateway printed one at its first start; on its machine,{' '}
                <code>signalbox keys create --management --name NAME</code> creates another.
              </Text>
            </>
          }
        />
      </Paper>
    </Center>
  )
}

export interface SignInAgainProps {
  readonly opened: boolean
  readonly onSignedIn: OnSignedIn
  readonly onDiscard: () => void
}

/** Shown over unsaved input if the key has expired meanwhile. Only its buttons close it. */
export function SignInAgain({ opened, onSignedIn, onDiscard }: SignInAgainProps): ReactNode {
  return (
    <Modal
      opened={opened}
      onClose={onDiscard}
      title="Sign in again"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      zIndex={1_000}
      // The page behind was read with a key that may no longer read it.
      overlayProps={{ backgroundOpacity: 0.9, blur: 8 }}
    >
      <KeyForm
        onSignedIn={onSignedIn}
        onDiscard={onDiscard}
        about={
          <Text size="sm">
            Your key is no longer accepted: it was revoked or has expired. Your unsaved input is still here. To continue, sign in with another
            management key of the same workspace.
          </Text>
        }
      />
    </Modal>
  )
}

interface KeyFormProps {
  readonly about: ReactNode
  readonly problem?: string | undefined
  readonly onSignedIn: OnSignedIn
  readonly onDiscard?: () => void
}

/** Asks for a management key and tests it before anything is shown. */
function KeyForm({ about, problem: before, onSignedIn, onDiscard }: KeyFormProps): ReactNode {
  const [key, setKey] = useState('')
  const [remember, setRemember] = useState(false)
  const [problem, setProblem] = useState(before)
  const [trying, setTrying] = useState(false)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setTrying(true)
    try {
      const api = createApi({ key: key.trim() })
      // Only a management key may call this.
      await api('GET /api/v1/credits')
      const { data } = await api('GET /api/v1/key')
      onSignedIn(key.trim(), remember, data.workspace_id)
    } catch (error) {
      setProblem(reasonOf(error))
    } finally {
      setTrying(false)
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        {about}
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
          description="Otherwise the key is forgotten when you close this tab."
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
        {onDiscard !== undefined && (
          <Button variant="default" onClick={onDiscard}>
            Discard changes
          </Button>
        )}
      </Stack>
    </form>
  )
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'That did not work.'
  if (error.status === 401) return 'The gateway does not know this key.'
  if (error.status === 403) return 'This is an inference key. The console needs a management key.'
  return error.message
}
