import { isObject } from '../shared/json.ts'

type Body = { readonly [field: string]: unknown }

/**
 * The fields of a request whose prompt is only to be cached, without what is refused beside `max_tokens: 0`: thinking within a budget, formats and forced
 * calls. https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pre-warming-the-cache
 */
export function withoutAnswer({ thinking, tool_choice: choice, output_config: output, ...fields }: Body, dropped: string[]): Body {
  const isBudget = isObject(thinking) && thinking['type'] === 'enabled'
  const isForced = isObject(choice) && (choice['type'] === 'any' || choice['type'] === 'tool')
  const { format, ...others } = isObject(output) ? output : {}
  if (isBudget) dropped.push('reasoning: not while the prompt is only cached')
  if (isForced) dropped.push('tool_choice: not while the prompt is only cached')
  if (format !== undefined) dropped.push('text.format: not while the prompt is only cached')
  return {
    ...fields,
    max_tokens: 0,
    ...(thinking === undefined || isBudget ? {} : { thinking }),
    ...(choice === undefined || isForced ? {} : { tool_choice: choice }),
    ...(Object.keys(others).length === 0 ? {} : { output_config: others }),
  }
}
