import { isDeepStrictEqual } from 'node:util'
import type { Target } from '../../core/dialect.ts'
import type { SettingsUpdate } from '../../core/settings-update.ts'
import { effortsFor, type ResponsesOptions } from './options.ts'
import { reasons } from './reasoning.ts'
import { takesFormat, writtenFormat } from './text-format.ts'
import { acceptsBuiltin } from './tools.ts'

type SettingsTarget = Pick<Target<ResponsesOptions>, 'options' | 'upstreamModel' | 'supports'>

/** Whether the endpoint knows such items, and takes all of these settings as they are: within the input, nothing is adjusted to the model. */
export function readsSettings(updates: readonly SettingsUpdate[], target: SettingsTarget): boolean {
  return acceptsBuiltin('configuration_update', target.options.builtin_tools) && updates.every((update) => takes(update, target))
}

function takes({ reasoning, text }: SettingsUpdate, target: SettingsTarget): boolean {
  const effort = reasoning?.effort
  const format = text?.format
  if (effort != null && !(reasons(target.supports) && effortsFor(target).includes(effort))) return false
  return format == null || (takesFormat(format, target.supports) && isDeepStrictEqual(writtenFormat(format, target.options, new Set()), format))
}
