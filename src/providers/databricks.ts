import { z } from 'zod'
import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

const settings = z.strictObject({ host: z.string().regex(/^(https:\/\/)?[a-z0-9.-]+\/?$/i) })

/** Model serving in a workspace; models are named by serving endpoint. */
export const databricks: Provider = {
  slug: 'databricks',
  name: 'Databricks',
  env: { apiKey: ['DATABRICKS_TOKEN', 'DATABRICKS_API_KEY'], settings: { host: ['DATABRICKS_HOST'] } },
  dialect: 'openai-chat',
  options: {
    reasoning_style: 'effort',
    models: ALWAYS_REASONING,
    // It turns an empty text into an empty block for Claude: "text content blocks must be non-empty".
    empty_content: 'omit',
    // "Multiple tool calls are not supported.": this includes calls in the history.
    one_call_models: '[Gg][Pp][Tt]',
  },
  settings,
  homepage: 'https://www.databricks.com/product/model-serving',
  statusPage: 'https://status.databricks.com',
  privacyPolicy: 'https://www.databricks.com/legal/privacynotice',
  connect: ({ extra }) => {
    const host = settings.parse(extra).host.replace(/^https:\/\/|\/$/gi, '')
    return { baseUrl: `https://${host}/serving-endpoints` }
  },
}
