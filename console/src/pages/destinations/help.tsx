import { Code } from '@mantine/core'
import type { ReactNode } from 'react'

/** A description of the gateway, whose names of things stand between backticks. */
export function Help({ text }: { readonly text: string | undefined }): ReactNode {
  if (text === undefined) return null
  // Every second piece stood between two of them; pieces never move.
  return text.split('`').map((piece, at) => (at % 2 === 0 ? piece : <Code key={`${at}-${piece}`}>{piece}</Code>))
}
