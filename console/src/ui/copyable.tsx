import { Button, Code, Group } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode } from 'react'

export interface CopyableProps {
  readonly value: string
  /** Describes the value for screen readers. */
  readonly label: string
}

type Outcome = 'copied' | 'selected'

const LABELS: { readonly [O in Outcome]: string } = { copied: 'Copied', selected: 'Press Ctrl+C' }
const LABEL_MS = 2_000

/** A text that is needed elsewhere: a key shown once, an id, a command. */
export function Copyable({ value, label }: CopyableProps): ReactNode {
  const text = useRef<HTMLPreElement>(null)
  const [outcome, setOutcome] = useState<Outcome>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), LABEL_MS)
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
        {outcome === undefined ? 'Copy' : LABELS[outcome]}
      </Button>
    </Group>
  )
}

/** Browsers deny the clipboard to pages loaded over plain HTTP. The old way may still work, and otherwise the text is at least selected. */
function copySelected(element: HTMLElement): Outcome {
  getSelection()?.selectAllChildren(element)
  return document.execCommand('copy') ? 'copied' : 'selected'
}
