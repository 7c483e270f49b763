import type { FlatChoice } from './tools.ts'

/** Noted in `dropped` if a call was required of a model that can only be allowed to make it. */
export const NOT_FORCED = 'tool_choice: cannot be forced'

/** Whether a choice requires a call. */
export const isForced = (choice: FlatChoice | undefined): boolean => choice?.mode === 'required' || choice?.mode === 'named'

/** If the format cannot express the choice of one tool, only that tool is offered; for any other choice all are. */
export function onlyChosen<T extends { readonly name?: unknown }>(tools: readonly T[], choice: FlatChoice | undefined): readonly T[] {
  return choice?.mode === 'named' ? tools.filter(({ name }) => name === choice.name) : tools
}
