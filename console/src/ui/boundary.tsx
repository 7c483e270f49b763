import { Alert, Button, Stack, Text } from '@mantine/core'
import { Component, type ReactNode } from 'react'

interface Props {
  readonly children: ReactNode
}
interface State {
  readonly error?: Error
}

/** A part of the console that failed to load, for example after an upgrade, because file names change with their content. */
export class NotLoaded extends Error {
  constructor() {
    super('The gateway cannot be reached, or was upgraded after you opened this tab.')
    this.name = 'NotLoaded'
  }
}

/** Keeps an error in one page from breaking the navigation. In React this takes a class. */
export class Boundary extends Component<Props, State> {
  override state: State = {}

  static getDerivedStateFromError(error: Error): State {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Alert color="red" title={error instanceof NotLoaded ? 'This page could not be loaded' : 'This page failed'} role="alert">
        <Stack align="flex-start">
          <Text size="sm">{error.message}</Text>
          <Button size="xs" variant="default" onClick={() => location.reload()}>
            Reload
          </Button>
        </Stack>
      </Alert>
    )
  }
}
