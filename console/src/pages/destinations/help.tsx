import { Code } from '@mantine/core'
import type { ReactNode } from 'react'

/** A description from the gateway, in which names are in backticks. */
export function Help({ text }: { readonly text: string | undefined }): ReactNode {
  if (text === undefined) return null
  // Every second piece was between backticks; pieces never change their order.
  return text.split('`').map((piece, at) => (at % 2 === 0 ? piece : <Code key={`${at}-${piece}`}>{piece}</Code>))
}
