import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Next to the button of a form that is higher than the window, where its refused fields may be out of sight. */
export function NotSaved({ when }: { readonly when: boolean }): ReactNode {
  if (!when) return null
  return (
    <Text size="sm" c="red" role="alert">
      Not saved. See the errors above.
    </Text>
  )
}
