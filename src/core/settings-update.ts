import { isDeepStrictEqual } from 'node:util'
import type { InputItem } from './item.ts'
import type { ModelRequest, ReasoningEffort, TextFormat } from './request.ts'

/** Settings that an item of the input may change for everything after it. */
type Settings = Pick<ModelRequest, 'reasoning' | 'text'>

/**
 * Changes settings in the middle of a conversation, so that the beginning of the prompt stays the same and cached. Members that are absent or null change
 * nothing. Source: the type `ResponseConfigurationUpdateItemParam` of OpenAI's client library.
 */
export interface SettingsUpdate {
  readonly type: 'configuration_update'
  readonly id?: string | null
  readonly reasoning?: { readonly effort?: ReasoningEffort | null } | null
  readonly text?: { readonly format?: TextFormat | null } | null
}

export const isSettingsUpdate = (item: InputItem): item is InputItem & SettingsUpdate => item.type === 'configuration_update'

/** The settings in force at the end of the input. Returns the same objects where nothing changes. */
export function settingsInForce({ input, reasoning, text }: Settings & Pick<ModelRequest, 'input'>): Settings {
  let now: Settings = { reasoning, text }
  for (const item of input) if (isSettingsUpdate(item)) now = updated(now, item)
  return now
}

/**
 * Whether the request's settings are still what its input makes of the initial ones. They are not if something was left out since, of the settings or of
 * the input.
 */
export function isInForce({ input, reasoning, text, initial_settings: initial }: ModelRequest): boolean {
  return isDeepStrictEqual(settingsInForce({ input, reasoning: initial?.reasoning, text: initial?.text }), { reasoning, text })
}

function updated({ reasoning, text }: Settings, update: SettingsUpdate): Settings {
  const effort = update.reasoning?.effort
  const format = update.text?.format
  return { reasoning: effort == null ? reasoning : withEffort(reasoning, effort), text: format == null ? text : { ...text, format } }
}

/** An effort replaces whatever said before how much the model reasons. */
function withEffort(before: ModelRequest['reasoning'], effort: ReasoningEffort): ModelRequest['reasoning'] {
  const { max_tokens: _, enabled: __, ...rest } = before ?? {}
  return { ...rest, effort }
}
