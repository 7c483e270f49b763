import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState, type ReactNode } from 'react'

export interface LateInputProps extends Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> {
  readonly value: string
  /** Called once typing pauses. */
  readonly onSettled: (value: string) => void
}

const PAUSE_MS = 250

/** A field whose every change is a request to the gateway, so it waits until typing pauses. */
export function LateInput({ value, onSettled, ...rest }: LateInputProps): ReactNode {
  const [text, setText] = useState(value)
  const reported = useRef(value)
  const report = useDebouncedCallback((next: string) => {
    reported.current = next
    onSettled(next)
  }, PAUSE_MS)
  // The value was changed from outside, for example by going back. The field's own value coming back must not undo what was typed since.
  useEffect(() => {
    if (value === reported.current) return
    reported.current = value
    setText(value)
  }, [value])
  return (
    <TextInput
      {...rest}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        report(currentTarget.value.trim())
      }}
    />
  )
}
