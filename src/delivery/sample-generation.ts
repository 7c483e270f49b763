import type { FinishedGeneration } from '../core/generation.ts'
import { createUsage } from '../core/usage.ts'

/** What `send-test` sends: a generation that says it is only a sample. */
export function sampleGeneration(id: string, workspaceId: string, now: number): FinishedGeneration {
  const durationMs = 1_500
  return {
    generation: {
      id,
      workspaceId,
      keyHash: '',
      keyName: 'observability test',
      apiType: 'responses',
      requestedModel: 'sample/model',
      model: 'sample/model',
      provider: 'sample',
      providerName: 'Sample',
      upstreamModel: 'model',
      isByok: false,
      streamed: false,
      status: 'completed',
      finishReason: 'stop',
      httpStatus: 200,
      startedAt: now - durationMs,
      endedAt: now,
      firstTokenMs: 300,
      durationMs,
      usage: createUsage({ inputTokens: 50, cachedTokens: 20, outputTokens: 100 }),
      cost: { total: 0.02, input: 0.005, output: 0.015, cacheDiscount: 0, source: 'catalog' },
      strategy: 'direct',
      attempts: [],
      pipeline: [],
      trace: {
        trace_name: 'Test Trace - Observability',
        generation_name: 'Test Generation',
        environment: 'test',
        tags: ['observability', 'test'],
        source: 'observability-test-button',
        test: true,
      },
      parameters: { temperature: 0.7, max_output_tokens: 100 },
    },
    content: {
      input: [{ type: 'message', role: 'user', content: 'This is a test of the connection. Did it arrive?' }],
      output: [
        {
          type: 'message',
          id: `msg-${id}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'It did, if you can read this.', annotations: [] }],
        },
      ],
    },
  }
}
