import { Anchor, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { parseBody, type Body } from './body.ts'
import { Actions, sendsOnKey } from './composer.tsx'
import classes from './playground.module.css'

export interface RawBodyProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly onRefill: () => void
  readonly isBusy: boolean
  readonly onSend: (body: Body) => void
  readonly onStop: () => void
  readonly onPlan: (body: Body) => void
  readonly onCode: (body: Body) => void
}

/** The whole body as JSON, sent as written. */
export function RawBody({ text, onText, onRefill, isBusy, onSend, onStop, onPlan, onCode }: RawBodyProps): ReactNode {
  const body = parseBody(text)
  const problem = body instanceof SyntaxError ? body.message : undefined
  const withBody = (use: (body: Body) => void) => (): void => {
    if (!(body instanceof SyntaxError)) use(body)
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isBusy) withBody(onSend)()
  }
  return (
    <Paper withBorder p="md">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Textarea
            label="Request body"
            description="Sent as written. The conversation is its input; the gateway does not store it."
            className={classes['json']}
            autosize
            minRows={10}
            maxRows={30}
            spellCheck={false}
            value={text}
            error={problem}
            onChange={(event) => onText(event.currentTarget.value)}
            onKeyDown={sendsOnKey}
          />
          <Group>
            <Anchor component="button" type="button" size="sm" onClick={onRefill}>
              Reset from the form
            </Anchor>
            <Text size="xs" c="dimmed">
              This discards your changes.
            </Text>
          </Group>
          <Actions isBusy={isBusy} isEmpty={problem !== undefined} onStop={onStop} onPlan={withBody(onPlan)} onCode={withBody(onCode)} />
        </Stack>
      </form>
    </Paper>
  )
}
