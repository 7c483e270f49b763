import type { Provider } from '../core/provider.ts'

export const llamafile: Provider = {
  slug: 'llamafile',
  name: 'llamafile',
  env: { baseUrl: ['LLAMAFILE_BASE_URL', 'LLAMAFILE_API_BASE'] },
  baseUrl: 'http://127.0.0.1:8080/v1',
  dialect: 'openai-chat',
  // An object in `tool_choice` is ignored. "Failed to initialize samplers: failed to parse grammar"
  options: { named_tool_choice: false, tool_bounds: 'described', inline_images: true },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://github.com/Mozilla-Ocho/llamafile',
}
