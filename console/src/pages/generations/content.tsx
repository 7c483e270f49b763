import { Anchor, Code, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../api/hooks.ts'
import { Loaded } from '../../ui/loaded.tsx'
import classes from './content.module.css'

/** The conversation, if the workspace stores it. Always shown as plain text. */
export function Content({ id }: { readonly id: string }): ReactNode {
  const read = useRead('GET /api/v1/generation/content', { query: { id } })
  if (read.error?.status === 404) {
    return (
      <Text size="sm" c="dimmed">
        The content of this call was not stored. Storing is switched on per workspace:{' '}
        <Anchor component={Link} href="/workspaces">
          Workspaces
        </Anchor>
        .
      </Text>
    )
  }
  return (
    <Loaded of={read}>
      {({ data: { input, output } }) => (
        <Stack>
          <Title order={2}>Input</Title>
          {input.messages.map((message, index) => (
            // Messages have no ids, and their order does not change.
            <Code key={index} block className={classes['text']}>
              {describe(message)}
            </Code>
          ))}
          {output.reasoning !== null && (
            <>
              <Title order={2}>Reasoning</Title>
              <Code block className={classes['text']}>
                {output.reasoning}
              </Code>
            </>
          )}
          <Title order={2}>Output</Title>
          {(output.completion !== null || output.items === undefined) && (
            <Code block className={classes['text']}>
              {output.completion ?? 'No text.'}
            </Code>
          )}
          {output.items?.map((item, index) => (
            <Code key={index} block className={classes['text']}>
              {shownAs(item)}
            </Code>
          ))}
        </Stack>
      )}
    </Loaded>
  )
}

function describe(message: unknown): string {
  if (typeof message !== 'object' || message === null) return String(message)
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown }
  if (typeof role === 'string' && typeof content === 'string') return `${role}: ${content}`
  return JSON.stringify(message, null, 2)
}

/** A call in the notation of a program, whatever its arguments are; a refusal as its text; other items as they are. */
function shownAs(item: unknown): string {
  const { type, name, arguments: args, input, content } = (item ?? {}) as { readonly [field: string]: unknown }
  const argumentsText = type === 'function_call' ? args : type === 'custom_tool_call' ? input : undefined
  if (typeof name === 'string' && typeof argumentsText === 'string') return `${name}(${argumentsText})`
  const refusals = type === 'message' && Array.isArray(content) ? content.map(refusalOf).filter((words) => words !== undefined) : []
  return refusals.length > 0 ? `Refused: ${refusals.join('\n')}` : JSON.stringify(item, null, 2)
}

function refusalOf(part: unknown): string | undefined {
  const { refusal } = (part ?? {}) as { readonly refusal?: unknown }
  return typeof refusal === 'string' ? refusal : undefined
}
