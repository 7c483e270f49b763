import type { Provider, ProviderModel } from '../../core/provider.ts'
import { DEMO_MODELS } from './script.ts'
import { createDemoTransport } from './transport.ts'

/** Always on. The models' names script their behaviour, so that the first request streams on a machine without keys. */
export const demo: Provider = {
  slug: 'demo',
  name: 'Demo (simulated)',
  env: {},
  keyless: true,
  // Never contacted: the transport below answers within this process.
  baseUrl: 'http://demo.invalid/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    json_schema: 'native',
    reasoning_style: 'effort',
    reasoning_efforts: ['none', 'low', 'medium', 'high'],
    think_tags: 'none',
  },
  policies: { dataCollection: 'deny', zdr: true, distillable: true },
  models: {
    open: false,
    list: [
      ...DEMO_MODELS.map((model): ProviderModel => ({
        slug: `demo/${model.id}`,
        name: model.name,
        description: model.description,
        upstreamModel: model.id,
        contextLength: 1_000_000,
        pricing: { input: 0, output: 0 },
        inputModalities: ['text', 'image', 'file', 'audio'],
        ...(model.reasons === true ? { reasonsByDefault: true } : {}),
      })),
      {
        slug: 'demo/embed',
        name: 'Embedder (simulated)',
        description: 'Simulated: makes vectors of the words of a text, near each other for texts that share words. No model is involved.',
        upstreamModel: 'embed',
        contextLength: 1_000_000,
        pricing: { input: 0, output: 0 },
        answers: 'embeddings',
      },
    ],
  },
  connect: () => ({ transport: createDemoTransport() }),
}
