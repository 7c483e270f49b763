import { z } from 'zod'
import type { Provider } from '../core/provider.ts'

const settings = z.strictObject({
  /** `<organization>-<account>`, as in the address of the account. */
  account: z.string().regex(/^[a-z0-9._-]+$/i),
})

export const snowflakeCortex: Provider = {
  slug: 'snowflake-cortex',
  name: 'Snowflake Cortex',
  env: { apiKey: ['SNOWFLAKE_CORTEX_PAT'], settings: { account: ['SNOWFLAKE_ACCOUNT'] } },
  dialect: 'openai-chat',
  options: { reasoning_style: 'reasoning-object', reasoning_replay: 'reasoning_details', reasoning_replay_turns: 'all' },
  settings,
  homepage: 'https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api',
  statusPage: 'https://status.snowflake.com',
  privacyPolicy: 'https://www.snowflake.com/en/legal/privacy/privacy-policy/',
  connect: ({ extra }) => ({ baseUrl: `https://${settings.parse(extra).account}.snowflakecomputing.com/api/v2/cortex/v1` }),
}
