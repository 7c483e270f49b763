import { sealReasoning } from '../../../core/reasoning-envelope.ts'
import { writeSeal } from '../seal.ts'

const user = (...parts: readonly object[]): object => ({ role: 'user', parts })
const model = (...parts: readonly object[]): object => ({ role: 'model', parts })
const words = (text: string): object => ({ text })
const blob = (mimeType: string, data = 'QUJD'): object => ({ inlineData: { mimeType, data, displayName: 'a' } })
const sealed = (at?: readonly [number, number]): object => ({
  thoughtSignature: writeSeal(sealReasoning({ format: 'google-gemini-v1', scope: 's', signature: 'QUJD', ...(at === undefined ? {} : { at }) })),
})
const schema = { type: 'OBJECT', properties: { at: { type: 'STRING', nullable: true } }, required: ['at'], propertyOrdering: ['at'] }
const declared = [
  { name: 'look', description: 'Looks.', parameters: schema },
  { name: 'see', parametersJsonSchema: { type: 'object' } },
]

/** Valid bodies that together contain every field and variant a request may have. */
export const BODIES: readonly object[] = [
  { contents: [user(words('Hi'))] },
  { contents: [{ parts: [words('Hi')] }], systemInstruction: { role: 'system', parts: [words('Be brief.')] }, labels: { team: 'a' }, serviceTier: 'flex' },
  { contents: [user(words('What?'), blob('image/png'), blob('audio/mpeg'), blob('video/mp4'), blob('application/pdf'), blob('text/plain'))] },
  { contents: [user(words('What?'), { fileData: { fileUri: 'https://127.0.0.1:1/a.png', mimeType: 'image/png' }, videoMetadata: { fps: 1 } })] },
  {
    contents: [
      user(words('Look.')),
      model(
        { text: 'Hm.', thought: true },
        { text: 'Well.', ...sealed() },
        { functionCall: { id: 'x', name: 'look', args: { at: 'b' } }, ...sealed() },
        { functionCall: { name: 'see' } },
      ),
      user(
        { functionResponse: { id: 'x', name: 'look', response: { output: 'sunny' }, parts: [blob('image/png')] } },
        { functionResponse: { name: 'see', response: { error: 'no' } } },
      ),
      model({ executableCode: { language: 'PYTHON', code: '1' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }, words('One.')),
      model(blob('image/png'), { text: '', ...sealed([2, 0]) }),
      user(words('And?')),
    ],
    tools: [{ functionDeclarations: declared }, { codeExecution: {} }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look', 'see'] } },
  },
  {
    contents: [user(words('Hi'))],
    tools: [{ functionDeclarations: declared }],
    tool_config: { function_calling_config: { mode: 'VALIDATED' } },
    generation_config: { max_output_tokens: 20, thinking_config: { thinking_budget: -1, include_thoughts: true } },
    system_instruction: 'Be brief.',
    safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  },
  {
    contents: [user(words('Hi'))],
    generationConfig: {
      maxOutputTokens: 20,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      stopSequences: ['x'],
      presencePenalty: 0.5,
      frequencyPenalty: 0.5,
      candidateCount: 1,
      responseLogprobs: true,
      logprobs: 2,
      responseMimeType: 'application/json',
      responseSchema: { type: 'ARRAY', minItems: '1', items: schema },
      responseModalities: ['TEXT'],
      thinkingConfig: { thinkingLevel: 'LOW' },
      imageConfig: { aspectRatio: '1:1' },
    },
    provider: { sort: 'price' },
    session_id: 's',
    user: 'u',
    metadata: { a: 'b' },
    trace: { trace_id: 't' },
  },
]
