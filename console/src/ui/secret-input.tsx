import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import type { ReactNode } from 'react'

/** A masked field. The UI library shows an invalid value by colour alone; this one also marks it for screen readers, as every other field does. */
export function SecretInput(props: PasswordInputProps): ReactNode {
  return <PasswordInput aria-invalid={Boolean(props.error) || undefined} {...props} />
}
