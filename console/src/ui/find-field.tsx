import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'

export interface FindFieldProps {
  /** The names of the fields that are searched. */
  readonly among: string
  readonly value: string
  readonly onChange: (text: string) => void
}

/** The text that listed rows must contain. */
export function FindField({ among, value, onChange }: FindFieldProps): ReactNode {
  return (
    <TextInput
      label="Find"
      placeholder={among}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      w={{ base: '100%', xs: 240 }}
    />
  )
}
