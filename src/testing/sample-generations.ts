import type { FinishedGeneration, Generation } from '../core/generation.ts'
import { createUsage } from '../core/usage.ts'

/** Finished generations with every field set, or as few as possible, for tests of destinations. All values are invented. */

export const SAMPLE_TIME = Date.UTC(2026, 0, 15, 10, 30, 0, 250)

/** Part of every text that comes from a caller or model; must never be visible in privacy mode. */
export const CANARY = 'CANARY-7f3a'

const base = {
  id: 'gen-1768473000-A1b2C3d4E5f6G7h8I9j0',
  workspaceId: '3d1f7a52-6f0e-4c7e-9b8a-5f1c2d3e4f50',
  keyHash: 'a'.repeat(64),
  keyName: 'production',
  apiType: 'responses',
  requestedModel: 'acme/small',
  isByok: false,
  streamed: true,
  status: 'completed',
  httpStatus: 200,
  startedAt: SAMPLE_TIME,
  endedAt: SAMPLE_TIME + 1500,
  durationMs: 1500,
  usage: createUsage({ inputTokens: 50, outputTokens: 100 }),
  cost: { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'unknown' },
  strategy: 'direct',
  attempts: [],
  pipeline: [],
  parameters: {},
} as const satisfies Generation

/** A streamed answer with reasoning, a function call, a server tool, a failed first attempt, media and a full `trace`. */
export function fullGeneration(): FinishedGeneration {
  return {
    generation: {
      ...base,
      userId: 'user-17',
      requestId: 'req-42',
      sessionId: 'session-9',
      externalUser: 'customer-5',
      origin: 'https://app.example.com',
      referer: 'https://app.example.com/chat',
      userAgent: 'example-client/1.2',
      model: 'acme/small',
      provider: 'beta',
      providerName: 'Beta',
      upstreamModel: 'small-1',
      upstreamId: 'up-77',
      endpointId: 'acme/small@beta#small-1',
      finishReason: 'tool_calls',
      nativeFinishReason: 'tool_use',
      firstTokenMs: 320,
      routerMs: 12,
      usage: createUsage({
        inputTokens: 1200,
        cachedTokens: 1000,
        cacheWriteTokens: 100,
        cacheWrite1hTokens: 40,
        outputTokens: 345,
        reasoningTokens: 200,
        audioInputTokens: 7,
        reportedCost: 0.0123,
        raw: { note: CANARY },
      }),
      cost: { total: 0.0123, input: 0.0023, output: 0.01, cacheDiscount: 0.0009, source: 'upstream' },
      unitPrices: { input: 1, output: 2 },
      strategy: 'fallback',
      serviceTier: 'default',
      outputType: 'json',
      attempts: [
        {
          provider: 'acme',
          providerName: 'Acme',
          model: 'acme/small',
          upstreamModel: 'small-1',
          endpointId: 'acme/small@acme#small-1',
          status: 429,
          startedAt: SAMPLE_TIME + 12,
          durationMs: 90,
          errorType: 'rate_limit_exceeded',
          errorMessage: `Slow down: ${CANARY}`,
        },
        {
          provider: 'beta',
          providerName: 'Beta',
          model: 'acme/small',
          upstreamModel: 'small-1',
          endpointId: 'acme/small@beta#small-1',
          status: 200,
          startedAt: SAMPLE_TIME + 110,
          firstTokenMs: 210,
          durationMs: 1390,
          upstreamId: 'up-77',
          isByok: false,
        },
      ],
      pipeline: [{ type: 'guardrail', name: 'pii', summary: `found ${CANARY}`, data: { match: CANARY }, cost_usd: null }],
      steps: [{ kind: 'tool', name: 'datetime', itemId: 'call_dt', startedAt: SAMPLE_TIME + 700, durationMs: 5 }],
      trace: {
        trace_id: 'order-123',
        trace_name: 'Checkout',
        span_name: 'Answer question',
        generation_name: 'Draft reply',
        parent_span_id: 'b7ad6b7169203331',
        environment: 'Production',
        release: '1.4.0',
        tags: ['blue', 'beta'],
        team: 'search',
        attempt: 2,
        score: 0.5,
        flags: { dark: true },
      },
      metadata: { ticket: 'T-1' },
      parameters: {
        temperature: 0.2,
        top_p: 0.9,
        max_output_tokens: 400,
        reasoning: { effort: 'low' },
        stop: [`${CANARY}-stop`],
        text: { format: { type: 'json_schema', name: 'x', schema: { description: CANARY } } },
      },
    },
    content: {
      instructions: `Be brief. ${CANARY}`,
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: `What is in the picture? ${CANARY} "quoted" é 漢 😀` },
            { type: 'input_image', image_url: `data:image/png;base64,${Buffer.alloc(90, 1).toString('base64')}` },
            { type: 'input_image', image_url: 'https://example.com/cat.png' },
          ],
        },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `Let me look. ${CANARY}` }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: `{"where":"${CANARY}"}` },
        { type: 'function_call_output', call_id: 'call_1', output: `{"found":"${CANARY}"}` },
        { type: 'shell_call', call_id: 'call_sh', action: { commands: [`echo ${CANARY}`] } },
        { type: 'shell_call_output', call_id: 'call_sh', output: [{ stdout: CANARY, stderr: '', outcome: { type: 'exit', exit_code: 0 } }] },
        {
          type: 'computer_call_output',
          call_id: 'call_pc',
          output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${Buffer.alloc(90, 1).toString('base64')}` },
        },
      ],
      output: [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: `Thinking about ${CANARY}` }],
          encrypted_content: Buffer.alloc(60, 2).toString('base64'),
        },
        {
          type: 'gateway:datetime',
          id: 'dt_1',
          call_id: 'call_dt',
          status: 'completed',
          arguments: `{"zone":"${CANARY}"}`,
          output: `2026 ${CANARY}`,
        },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [
            {
              type: 'output_text',
              text: `A cat. ${CANARY}`,
              annotations: [{ type: 'url_citation', url: `https://example.com/${CANARY}`, title: CANARY, start_index: 0, end_index: 2 }],
            },
          ],
        },
        { type: 'function_call', id: 'fc_1', call_id: 'call_2', name: 'save', arguments: `{"text":"${CANARY}"}`, status: 'completed' },
      ],
      tools: [
        { type: 'function', name: 'look', description: `Looks ${CANARY}`, parameters: { type: 'object', properties: { where: { type: 'string' } } } },
      ],
    },
  }
}

/** The smallest possible generation: no session, user, trace, price or content. */
export function minimalGeneration(): FinishedGeneration {
  return {
    generation: {
      ...base,
      id: 'gen-1768473001-ZZZZZZZZZZZZZZZZZZZZ',
      model: 'acme/small',
      provider: 'acme',
      providerName: 'Acme',
      finishReason: 'stop',
    },
    content: { input: [], output: [] },
  }
}

/** Failed before the first byte of an answer; the upstream's error quotes the prompt. */
export function failedGeneration(): FinishedGeneration {
  return {
    generation: {
      ...base,
      id: 'gen-1768473002-FFFFFFFFFFFFFFFFFFFF',
      status: 'failed',
      httpStatus: 400,
      errorType: 'content_policy_violation',
      errorMessage: `Your prompt "${CANARY}" was flagged`,
      usage: createUsage({}),
      trace: { team: 'search', environment: 'staging' },
      attempts: [
        {
          provider: 'acme',
          providerName: 'Acme',
          model: 'acme/small',
          upstreamModel: 'small-1',
          endpointId: 'acme/small@acme#small-1',
          status: 400,
          startedAt: SAMPLE_TIME + 10,
          durationMs: 40,
          errorType: 'content_policy_violation',
          errorMessage: `flagged: ${CANARY}`,
        },
      ],
    },
    content: { input: [{ type: 'message', role: 'user', content: `Say ${CANARY}` }], output: [] },
  }
}

/** Embeddings of a text, of a text with an image, and of a tokenized text; the vectors themselves are not recorded. */
export function embeddingGeneration(): FinishedGeneration {
  const { generation } = minimalGeneration()
  return {
    generation: {
      ...generation,
      apiType: 'embeddings',
      requestedModel: 'acme/embed',
      model: 'acme/embed',
      provider: 'acme',
      providerName: 'Acme',
      upstreamModel: 'embed-1',
      streamed: false,
      finishReason: 'stop',
      usage: createUsage({ inputTokens: 12 }),
      cost: { total: 0.00024, input: 0.00024, output: 0, cacheDiscount: 0, source: 'catalog' },
      parameters: { dimensions: 256, encoding_format: 'base64', input_type: 'search_document' },
    },
    content: {
      input: [
        { type: 'message', role: 'user', content: `A first text. ${CANARY}` },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: `A picture of it. ${CANARY}` },
            { type: 'input_image', image_url: `data:image/png;base64,${Buffer.alloc(90, 1).toString('base64')}` },
          ],
        },
        { type: 'input_tokens', tokens: [101, 7, 102] },
      ],
      output: [],
    },
  }
}
