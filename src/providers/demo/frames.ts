import type { Prompt } from './prompt.ts'
import type { Beat } from './script.ts'

/** Renders beats in the chat-completions format, as stream chunks or as one body, and counts tokens: one per word. */
export interface Renderer {
  /** Undefined once the token limit is reached and the answer ends. */
  readonly add: (beat: Beat) => Buffer | undefined
  readonly end: () => Buffer
}

const CREATED = 1_735_689_600

interface Tally {
  text: string
  reasoning: string
  readonly calls: object[]
  tokens: number
  reasoningTokens: number
  full: boolean
}

export function createRenderer(prompt: Prompt, id: string): Renderer {
  const tally: Tally = { text: '', reasoning: '', calls: [], tokens: 0, reasoningTokens: 0, full: false }
  const chunk = (body: object): Buffer =>
    Buffer.from(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: CREATED, model: prompt.model, ...body })}\n\n`)
  let first = true

  return {
    add(beat) {
      const delta = take(beat, tally, prompt.maxTokens, id)
      if (delta === undefined) return undefined
      const role = first ? { role: 'assistant' } : {}
      first = false
      return prompt.stream ? chunk({ choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason: null }] }) : EMPTY
    },
    end() {
      const reason = tally.full ? 'length' : tally.calls.length > 0 ? 'tool_calls' : 'stop'
      if (!prompt.stream) return Buffer.from(JSON.stringify(wholeBody(prompt, id, tally, reason)))
      return Buffer.concat([
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }),
        chunk({ choices: [], usage: usageOf(prompt, tally) }),
        Buffer.from('data: [DONE]\n\n'),
      ])
    },
  }
}

const EMPTY = Buffer.alloc(0)

function take(beat: Beat, tally: Tally, maxTokens: number, id: string): object | undefined {
  if (beat.type !== 'text' && beat.type !== 'reasoning' && beat.type !== 'call') return {}
  if (tally.tokens >= maxTokens) {
    tally.full = true
    return undefined
  }
  tally.tokens++
  if (beat.type === 'call') {
    const index = tally.calls.length
    const call = { id: `call_${id}_${index}`, type: 'function', function: { name: beat.name, arguments: beat.arguments } }
    tally.calls.push(call)
    return { tool_calls: [{ index, ...call }] }
  }
  if (beat.type === 'reasoning') {
    tally.reasoningTokens++
    tally.reasoning += beat.words
    return { reasoning_content: beat.words }
  }
  tally.text += beat.words
  return { content: beat.words }
}

function wholeBody(prompt: Prompt, id: string, tally: Tally, reason: string): object {
  const message = {
    role: 'assistant',
    content: tally.text === '' ? null : tally.text,
    ...(tally.reasoning === '' ? {} : { reasoning_content: tally.reasoning }),
    ...(tally.calls.length === 0 ? {} : { tool_calls: tally.calls }),
  }
  return {
    id,
    object: 'chat.completion',
    created: CREATED,
    model: prompt.model,
    choices: [{ index: 0, message, finish_reason: reason }],
    usage: usageOf(prompt, tally),
  }
}

function usageOf(prompt: Prompt, tally: Tally): object {
  return {
    prompt_tokens: prompt.promptTokens,
    completion_tokens: tally.tokens,
    total_tokens: prompt.promptTokens + tally.tokens,
    completion_tokens_details: { reasoning_tokens: tally.reasoningTokens },
  }
}
