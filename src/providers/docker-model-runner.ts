import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

/** Models in Docker, run by llama.cpp unless another engine is chosen. https://docs.docker.com/ai/model-runner/api-reference/ */
export const dockerModelRunner: Provider = {
  slug: 'docker-model-runner',
  name: 'Docker Model Runner',
  env: { baseUrl: ['DOCKER_MODEL_RUNNER_BASE_URL'] },
  baseUrl: 'http://127.0.0.1:12434/engines/v1',
  dialect: 'openai-chat',
  // The options of its engine: see llama.cpp.
  options: {
    reasoning_style: 'template-kwargs',
    models: ALWAYS_REASONING,
    reasoning_replay: 'reasoning_content',
    named_tool_choice: false,
    tool_bounds: 'described',
    inline_images: true,
  },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://docs.docker.com/ai/model-runner/',
}
