import type { ToolOutput } from '../core/item.ts'
import type { FinishedCall } from './tool-run.ts'

/** In place of a result that consists of pictures only. */
const UNSEEN = '[a picture, which this model cannot see]'

/** Results of tools for a model that sees no pictures: a picture in the conversation would leave no endpoint for the next turn. */
export function withoutPictures(finished: readonly FinishedCall[]): readonly FinishedCall[] {
  return finished.map((each) => ({ ...each, result: { ...each.result, output: wordsOf(each.result.output) } }))
}

function wordsOf(output: ToolOutput): ToolOutput {
  if (typeof output === 'string' || !output.some(isPicture)) return output
  const rest = output.filter((part) => !isPicture(part))
  return rest.length === 0 ? UNSEEN : rest
}

const isPicture = ({ type }: { readonly type: string }): boolean => type === 'input_image'
