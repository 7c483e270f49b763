/** Catalog data: who makes which model, and how the vendors' ids of one model are mapped to one name. */

/** The vendor in the price data that names nearly every model, always as `author/slug`. The catalog uses its spelling. */
export const NAMING_VENDOR = 'openrouter'

/** Vendors' spellings of organisations, by the catalog's name of the author. Compared in lower case. */
const AUTHOR_SPELLINGS: { readonly [author: string]: readonly string[] } = {
  'ai21': ['ai21labs'],
  'amazon': ['aws'],
  'anthropic': ['claude'],
  'arcee-ai': ['arcee'],
  'baidu': ['paddlepaddle'],
  'bytedance-seed': ['bytedance', 'doubao'],
  'cohere': ['cohereforai', 'coherelabs'],
  'deepseek': ['deepseek-ai'],
  'google': ['gemini', 'gemma'],
  'ibm-granite': ['ibm'],
  'meta-llama': ['meta', 'facebook'],
  'minimax': ['minimaxai'],
  'mistralai': ['mistral', 'mistral-ai'],
  'moonshotai': ['moonshot', 'moonshot-ai', 'kimi'],
  'nousresearch': ['nous'],
  'openai': ['open-ai'],
  'qwen': ['alibaba'],
  'stepfun': ['stepfun-ai'],
  'tencent': ['hunyuan'],
  'x-ai': ['xai', 'grok'],
  'xiaomi': ['xiaomimimo'],
  'z-ai': ['zai', 'zai-org', 'zhipu', 'zhipuai', 'thudm'],
}

export const AUTHORS: ReadonlyMap<string, string> = new Map(
  Object.entries(AUTHOR_SPELLINGS).flatMap(([author, spellings]) => [author, ...spellings].map((spelling): [string, string] => [spelling, author])),
)

/** The author of an id that names none, by the prefix of its name. */
export const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt|o[1-9](-|$)|codex)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^(gemini|gemma)/, 'google'],
  [/^(meta-)?llama/, 'meta-llama'],
  [/^(qwen|qwq)/, 'qwen'],
  [/^deepseek/, 'deepseek'],
  [/^(mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral)/, 'mistralai'],
  [/^(kimi|moonshot)/, 'moonshotai'],
  [/^(glm|chatglm)/, 'z-ai'],
  [/^grok/, 'x-ai'],
  [/^minimax/, 'minimax'],
  [/^(nemotron|nvidia-nemotron)/, 'nvidia'],
  [/^(phi-|wizardlm)/, 'microsoft'],
  [/^(command|c4ai)/, 'cohere'],
  [/^(sonar|r1-1776)/, 'perplexity'],
  [/^nova-/, 'amazon'],
  [/^jamba/, 'ai21'],
  [/^granite/, 'ibm-granite'],
  [/^mimo/, 'xiaomi'],
  [/^step-/, 'stepfun'],
  [/^(seed|doubao)/, 'bytedance-seed'],
  [/^inkling/, 'thinkingmachines'],
]

/** Names that no rule can relate: vendor's name (lower case, without author) -> the catalog's slug. */
export const SAME_MODEL: ReadonlyMap<string, string> = new Map([
  ['claude-opus-4-1', 'anthropic/claude-opus-4.1'],
  ['deepseek-reasoner', 'deepseek/deepseek-r1'],
  ['gpt-oss-120b-1', 'openai/gpt-oss-120b'],
  ['gpt-oss-20b-1', 'openai/gpt-oss-20b'],
  ['llama-4-maverick-17b-128e-instruct', 'meta-llama/llama-4-maverick'],
  ['llama-4-maverick-17b-128e-instruct-fp8', 'meta-llama/llama-4-maverick'],
  ['llama-4-maverick-17b-instruct', 'meta-llama/llama-4-maverick'],
  ['llama4-maverick-17b-instruct', 'meta-llama/llama-4-maverick'],
  ['llama4-maverick-instruct-basic', 'meta-llama/llama-4-maverick'],
  ['llama-4-scout-17b-16e-instruct', 'meta-llama/llama-4-scout'],
  ['llama4-scout-17b-instruct', 'meta-llama/llama-4-scout'],
  ['llama-3.1-70b-instruct-fp8-fast', 'meta-llama/llama-3.1-70b-instruct'],
  ['llama-3.1-8b-instruct-fp8-fast', 'meta-llama/llama-3.1-8b-instruct'],
  ['llama-3.3-70b-instruct-fp8-fast', 'meta-llama/llama-3.3-70b-instruct'],
  ['mistral-nemo-instruct-2407', 'mistralai/mistral-nemo'],
  ['mistral-small-3.2-24b-instruct-2506', 'mistralai/mistral-small-3.2-24b-instruct'],
  ['mixtral-8x22b-instruct-v0.1', 'mistralai/mixtral-8x22b-instruct'],
  ['mixtral-8x7b-instruct-v0.1', 'mistralai/mixtral-8x7b-instruct'],
  ['qwen3-coder-480b-a35b-instruct', 'qwen/qwen3-coder'],
  ['qwen-3-coder-480b', 'qwen/qwen3-coder'],
  ['qwen3-235b-a22b-instruct-2507', 'qwen/qwen3-235b-a22b-2507'],
  ['command-r', 'cohere/command-r-08-2024'],
  ['command-r-plus', 'cohere/command-r-plus-08-2024'],
  ['grok-4-0709', 'x-ai/grok-4'],
])

/** Makers that share their name with their models. At the beginning of an id it is part of the model's name. */
export const NAMED_AFTER_MAKER: ReadonlySet<string> = new Set(['claude', 'deepseek', 'mistral', 'minimax'])

/** Words in vendors' ids that say how a model is served, not which model it is. */
export const SERVING_WORDS: ReadonlySet<string> = new Set([
  'instruct', 'it', 'chat', 'hf', 'versatile', 'instant', 'fp', 'bf', 'awq', 'nvfp', 'basic', 'latest', 'maas',
])

/** Families whose newest member has a floating name, `~<family>-latest`. */
export const LATEST_FAMILIES: readonly string[] = [
  'anthropic/claude-fable', 'anthropic/claude-haiku', 'anthropic/claude-opus', 'anthropic/claude-sonnet', 'google/gemini-flash', 'google/gemini-pro',
  'moonshotai/kimi', 'openai/gpt', 'openai/gpt-mini',
]

/** Suffixes that name separate endpoints: `author/slug:free`. */
export const CATALOG_VARIANTS: ReadonlySet<string> = new Set(['free', 'thinking', 'extended', 'exacto'])

/** Suffixes that steer routing and do not name another model. */
export const ROUTING_VARIANTS: ReadonlySet<string> = new Set(['nitro', 'floor', 'online', 'exacto'])
