import { createCustomInputStream } from './custom-input.ts'
import type { CustomInputStream } from './custom-input.ts'
import { JsonEnd } from './json-end.ts'

/** A tool call while it is being written. */
export interface OpenCall {
  readonly key: string
  /** Arguments so far, as the upstream wrote them. */
  arguments: string
  readonly end: JsonEnd
  /** They are an empty object nobody was shown yet: with some servers it only keeps the place of what is to come. */
  held: boolean
  readonly custom: CustomInputStream | undefined
  closed: boolean
}

export const openCall = (key: string, custom: boolean): OpenCall => ({
  key,
  arguments: '',
  end: new JsonEnd(),
  held: false,
  custom: custom ? createCustomInputStream() : undefined,
  closed: false,
})

/** What `delta` adds to a call whose empty object was held back: another object replaces it. */
export function takeHeld(call: OpenCall, delta: string): string {
  const held = call.arguments
  call.held = false
  call.arguments = ''
  return delta.trimStart().startsWith('{') ? delta : held + delta
}
