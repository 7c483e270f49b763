import type { FlatChoice } from './tools.ts'

/** In `dropped`, where a call was demanded of a model that can only be allowed to make it. */
export const NOT_FORCED = 'tool_choice: cannot be forced'

/** Whether a choice demands a call. */
export const isForced = (choice: FlatChoice | undefined): boolean => choice?.mode === 'required' || choice?.mode === 'named'

/** Where the choice of one tool has no word of its own, what is offered says it: that tool alone. Of any other choice all are. */
export function onlyChosen<T extends { readonly name?: unknown }>(tools: readonly T[], choice: FlatChoice | undefined): readonly T[] {
  return choice?.mode === 'named' ? tools.filter(({ name }) => name === choice.name) : tools
}
