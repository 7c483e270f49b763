import type { Provider } from '../core/provider.ts'

export const stepfun: Provider = {
  slug: 'stepfun',
  name: 'StepFun',
  env: { apiKey: ['STEPFUN_API_KEY'] },
  baseUrl: 'https://api.stepfun.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.stepfun.com',
}
