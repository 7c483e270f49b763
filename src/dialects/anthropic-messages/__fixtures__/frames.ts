/** Frames of this format in a short notation. */
export const start = (usage: object = { input_tokens: 10, output_tokens: 1 }, id = 'msg_1'): object => ({
  type: 'message_start',
  message: { id, type: 'message', role: 'assistant', model: 'small-1', content: [], stop_reason: null, stop_sequence: null, usage },
})
export const open = (index: number, content_block: object): object => ({ type: 'content_block_start', index, content_block })
export const delta = (index: number, fields: object): object => ({ type: 'content_block_delta', index, delta: fields })
export const stop = (index: number): object => ({ type: 'content_block_stop', index })
export const textDelta = (index: number, text: string): object => delta(index, { type: 'text_delta', text })
export const thinkingDelta = (index: number, thinking: string): object => delta(index, { type: 'thinking_delta', thinking })
export const signatureDelta = (index: number, signature: string): object => delta(index, { type: 'signature_delta', signature })
export const inputDelta = (index: number, partial_json: string): object => delta(index, { type: 'input_json_delta', partial_json })
export const text = (index: number, ...texts: readonly string[]): object[] => [
  open(index, { type: 'text', text: '' }),
  ...texts.map((each) => textDelta(index, each)),
  stop(index),
]
export const thinking = (index: number, thought: string, signature: string): object[] => [
  open(index, { type: 'thinking', thinking: '', signature: '' }),
  ...(thought === '' ? [] : [thinkingDelta(index, thought)]),
  signatureDelta(index, signature),
  stop(index),
]
export const call = (index: number, id: string, name: string, ...pieces: readonly string[]): object[] => [
  open(index, { type: 'tool_use', id, name, input: {} }),
  ...pieces.map((piece) => inputDelta(index, piece)),
  stop(index),
]
export const finish = (stop_reason: string, usage: object = { output_tokens: 5 }, more: object = {}): object[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage },
  { type: 'message_stop' },
]
