import type { Provider } from '../core/provider.ts'

/** Weights & Biases Inference, on CoreWeave. */
export const wandb: Provider = {
  slug: 'wandb',
  name: 'WandB',
  env: { apiKey: ['WANDB_API_KEY'] },
  baseUrl: 'https://api.inference.wandb.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://docs.wandb.ai/inference',
  statusPage: 'https://status.wandb.com',
  privacyPolicy: 'https://wandb.ai/site/privacy/',
}
