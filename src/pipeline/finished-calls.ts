import type { FunctionCallOutputItem, InputItem } from '../core/item.ts'
import type { FinishedCall } from './tool-run.ts'

/** The call goes on when the caller has done its part. */
export const isLeftToCaller = ({ result }: FinishedCall): boolean => (result.handBack ?? result.suspended) !== undefined

export const outputOf = ({ call: { callId }, result }: FinishedCall) => ({
  type: 'function_call_output' as const,
  call_id: callId,
  output: result.output,
})

/** The conversation with results for the calls that had none, which have an empty one. Finished calls may have had the same ids. */
export function fillIn(input: readonly InputItem[], finished: readonly FinishedCall[]): readonly InputItem[] {
  const outputs = new Map(finished.map((each) => [each.call.callId, outputOf(each)]))
  return input.map((item) => (isEmptyOutput(item) ? (outputs.get(item.call_id) ?? item) : item))
}

const isEmptyOutput = (item: InputItem): item is FunctionCallOutputItem => item.type === 'function_call_output' && item['output'] === ''
