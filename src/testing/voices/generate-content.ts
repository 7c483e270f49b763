import { defined, list, object, type Json, type ScriptedAnswer, type SeenTurn, type VendorVoice } from './voice.ts'

const GEMINI_USAGE = { promptTokenCount: 30, cachedContentTokenCount: 10, candidatesTokenCount: 8, thoughtsTokenCount: 4, totalTokenCount: 42 }

/** The signature is on the first call, or else on the text. */
function geminiParts({ reasoning, text, calls = [] }: ScriptedAnswer): Json[] {
  const signature = reasoning === undefined ? {} : { thoughtSignature: reasoning.secret }
  return defined<Json>(
    reasoning === undefined ? undefined : { text: reasoning.text, thought: true },
    text === undefined ? undefined : { text, ...(calls.length === 0 ? signature : {}) },
    ...calls.map((call, index) => ({
      functionCall: { id: call.id, name: call.name, args: JSON.parse(call.arguments) as unknown },
      ...(index === 0 ? signature : {}),
    })),
  )
}

const generate = (parts: Json[], end: boolean): Json => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(end ? { finishReason: 'STOP' } : {}) }],
  usageMetadata: GEMINI_USAGE,
  modelVersion: 'gemini-3-flash-preview',
  responseId: 'r-vendor',
})

export const gemini: VendorVoice = {
  dialect: 'gemini',
  model: 'gemini-3-flash-preview',
  options: {},
  contentType: 'text/event-stream',
  stream(answer) {
    const parts = geminiParts(answer)
    const frames = parts.length === 0 ? [generate([], true)] : parts.map((part, index) => generate([part], index === parts.length - 1))
    return frames.map((frame) => Buffer.from(`data: ${JSON.stringify(frame)}\r\n\r\n`))
  },
  json: (answer) => JSON.stringify(generate(geminiParts(answer), true)),
  turns: (body) =>
    list(body['contents']).map((content): SeenTurn => {
      const parts = list(content['parts'])
      const ids = (field: string): string[] =>
        parts.flatMap((part) => (part[field] === undefined ? [] : [String(object(part[field])['id'] ?? object(part[field])['name'])]))
      return { role: content['role'] === 'model' ? 'assistant' : 'user', calls: ids('functionCall'), results: ids('functionResponse') }
    }),
  returnsSecret: true,
  tiers: { default: 'standard', flex: 'flex', priority: 'priority' },
  tier: (body) => body['serviceTier'],
}
