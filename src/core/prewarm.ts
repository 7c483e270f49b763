import type { ModelRequest } from './request.ts'

/**
 * Whether nothing is wanted but that the vendor reads the prompt into its cache, before somebody waits for an answer. Sources:
 * https://developers.openai.com/api/docs/guides/prompt-caching (`prompt_cache_options.prewarm`) and
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pre-warming-the-cache (`max_tokens: 0`).
 */
export const asksToPrewarm = ({ prompt_cache_options: options }: Pick<ModelRequest, 'prompt_cache_options'>): boolean => options?.prewarm === true
