import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState, type ReactNode } from 'react'

export interface LateInputProps extends Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> {
  readonly value: string
  /** Told once typing pauses. */
  readonly onSettled: (value: string) => void
}

const PAUSE_MS = 250

/** A field for what is asked of the gateway at every change: it waits until a word is typed. */
export function LateInput({ value, onSettled, ...rest }: LateInputProps): ReactNode {
  const [text, setText] = useState(value)
  const told = useRef(value)
  const tell = useDebouncedCallback((next: string) => {
    told.current = next
    onSettled(next)
  }, PAUSE_MS)
  // From elsewhere, as by a step back: what comes back of one's own words must not undo what was typed since.
  useEffect(() => {
    if (value === told.current) return
    told.current = value
    setText(value)
  }, [value])
  return (
    <TextInput
      {...rest}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        tell(currentTarget.value.trim())
      }}
    />
  )
}
