import { Alert, Button, Stack, Text } from '@mantine/core'
import { Component, type ReactNode } from 'react'

interface Props {
  readonly children: ReactNode
}
interface State {
  readonly error?: Error
}

/** Keeps a fault in one page from taking the navigation with it. React knows no other way than a class. */
export class Boundary extends Component<Props, State> {
  override state: State = {}

  static getDerivedStateFromError(error: Error): State {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Alert color="red" title="This page broke" role="alert">
        <Stack align="flex-start">
          <Text size="sm">{error.message}</Text>
          <Button size="xs" variant="default" onClick={() => location.reload()}>
            Load it again
          </Button>
        </Stack>
      </Alert>
    )
  }
}
