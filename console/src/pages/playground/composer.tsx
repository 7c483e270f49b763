import { Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import type { FormEvent, KeyboardEvent, ReactNode } from 'react'
import { callOutput, userMessage, type OpenCall } from './body.ts'
import type { Item } from './run.ts'
import { useKept } from './use-kept.ts'

export interface ComposerProps {
  /** Calls of the last answer, whose results are sent with the next message. */
  readonly calls: readonly OpenCall[]
  readonly text: string
  readonly onText: (text: string) => void
  readonly isBusy: boolean
  /** Receives the new items: results, then the message. */
  readonly onSend: (input: readonly Item[]) => void
  readonly onStop: () => void
  readonly onPlan: (input: readonly Item[]) => void
  readonly onCode: (input: readonly Item[]) => void
}

/** The input for the next message. */
export function Composer({ calls, text, onText, isBusy, onSend, onStop, onPlan, onCode }: ComposerProps): ReactNode {
  const [results, changeResults] = useKept<{ readonly [callId: string]: string }>('results', {})
  const input = [
    ...calls.map(({ callId, type }) => callOutput(callId, results[callId] ?? '', type)),
    ...(text.trim() === '' ? [] : [userMessage(text)]),
  ]
  const isEmpty = input.length === 0
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (isBusy || isEmpty) return
    onSend(input)
  }
  return (
    <Paper withBorder p="md">
      <form onSubmit={submit}>
        <Stack gap="sm">
          {calls.map(({ callId, name }) => (
            <Textarea
              key={callId}
              label={`Result of ${name}`}
              description={`The model called it (${callId}) and waits for the result.`}
              autosize
              minRows={1}
              maxRows={8}
              value={results[callId] ?? ''}
              onChange={({ currentTarget: { value } }) => changeResults((now) => ({ ...now, [callId]: value }))}
              onKeyDown={sendsOnKey}
            />
          ))}
          <Textarea
            label="Message"
            placeholder={calls.length > 0 ? 'A message is optional here' : 'Ask something'}
            autosize
            minRows={3}
            maxRows={16}
            value={text}
            onChange={(event) => onText(event.currentTarget.value)}
            onKeyDown={sendsOnKey}
          />
          <Actions isBusy={isBusy} isEmpty={isEmpty} onStop={onStop} onPlan={() => onPlan(input)} onCode={() => onCode(input)} />
        </Stack>
      </form>
    </Paper>
  )
}

/** Ctrl + Enter submits a form with multi-line fields. */
export function sendsOnKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
}

export interface ActionsProps {
  readonly isBusy: boolean
  readonly isEmpty: boolean
  readonly onStop: () => void
  readonly onPlan: () => void
  readonly onCode: () => void
}

/** Buttons to send or stop, to show the plan, and to copy the request as code. */
export function Actions({ isBusy, isEmpty, onStop, onPlan, onCode }: ActionsProps): ReactNode {
  return (
    <Group justify="space-between" gap="xs">
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onPlan}>
          Plan
        </Button>
        <Button size="xs" variant="default" onClick={onCode}>
          As code
        </Button>
      </Group>
      <Group gap="sm">
        <Text size="xs" c="dimmed" visibleFrom="sm">
          Ctrl + Enter sends
        </Text>
        {isBusy ? (
          // A separate key, so that the click that sends cannot also stop.
          <Button key="stop" color="red" variant="light" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button key="send" type="submit" disabled={isEmpty}>
            Send
          </Button>
        )}
      </Group>
    </Group>
  )
}
