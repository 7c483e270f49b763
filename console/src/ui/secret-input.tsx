import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import type { ReactNode } from 'react'

/** A field for what nobody may read over a shoulder. The kit shows that one is wrong by its colour alone; this one says so, as every other field does. */
export function SecretInput(props: PasswordInputProps): ReactNode {
  return <PasswordInput aria-invalid={Boolean(props.error) || undefined} {...props} />
}
