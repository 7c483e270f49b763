import { Button, Code, Group } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode } from 'react'

export interface CopyableProps {
  readonly value: string
  /** What is copied, for those who cannot see it. */
  readonly label: string
}

type Outcome = 'copied' | 'selected'

const SAID: { readonly [O in Outcome]: string } = { copied: 'Copied', selected: 'Press Ctrl+C' }
const SAID_FOR_MS = 2_000

/** A text somebody needs elsewhere: a key shown once, an id, a command. */
export function Copyable({ value, label }: CopyableProps): ReactNode {
  const text = useRef<HTMLPreElement>(null)
  const [outcome, setOutcome] = useState<Outcome>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), SAID_FOR_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value)
      setOutcome('copied')
    } catch {
      setOutcome(copySelected(text.current!))
    }
  }
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Code block flex={1} style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }} aria-label={label} ref={text}>
        {value}
      </Code>
      <Button size="xs" variant="default" onClick={() => void copy()} aria-label={`Copy ${label}`}>
        {outcome === undefined ? 'Copy' : SAID[outcome]}
      </Button>
    </Group>
  )
}

/** Browsers give no clipboard to pages that came over plain HTTP: the old way, and where that fails the text is at least selected. */
function copySelected(element: HTMLElement): Outcome {
  getSelection()?.selectAllChildren(element)
  return document.execCommand('copy') ? 'copied' : 'selected'
}
