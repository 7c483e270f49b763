/** Options of `openai-chat` for platforms that are several providers: the same server in China and abroad, each with its own keys and prices. */

export const GLM_OPTIONS = {
  system_role: 'system',
  // "The temperature parameter is illegal" for larger values.
  max_temperature: 1,
  // "Tool choice must be auto".
  forced_tools: 'never',
  none_tool_choice: false,
  json_schema: 'json-object',
  models: [
    // These always reason, even if told not to, and with the greatest effort unless told how much.
    { match: 'glm-(?:5[.-][3-9]|[6-9]|\\d\\d)', reasoning_style: 'effort', reasoning_efforts: ['low', 'high', 'max'] },
    { match: 'glm-5[.-]2(?!\\d)', reasoning_style: 'thinking-type', reasoning_efforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
    { match: '.', reasoning_style: 'thinking-type' },
  ],
  reasoning_replay: 'reasoning_content',
  think_tags: 'none',
  audio: 'none',
  video: 'video_url',
}

export const KIMI_OPTIONS = {
  system_role: 'system',
  prefill_field: 'partial',
  max_temperature: 1,
  // "tool_choice 'specified' is incompatible with thinking enabled"; so is 'required' before K3.
  named_tool_choice: false,
  // "not a valid moonshot flavored json schema", https://github.com/MoonshotAI/walle; names that begin with a digit are refused as well.
  schemas: 'curated',
  tool_bounds: 'patterns-described',
  tool_names: { pattern: '^[a-zA-Z_][a-zA-Z0-9_-]*$' },
  // Since K2.5 the temperature must have one value while the model thinks and another while it does not; all others are errors. Since K2.7 the models
  // always think.
  models: [
    { match: 'kimi-k2-thinking', reasoning_style: 'thinking-type', forced_tools: 'never' },
    { match: 'kimi-k2[.-][56](?!\\d)', reasoning_style: 'thinking-type', sampling_with_reasoning: false, forced_tools: 'without-reasoning' },
    { match: 'kimi-k2[.-][7-9](?!\\d)', reasoning_style: 'effort', reasoning_efforts: [], sampling_with_reasoning: false, forced_tools: 'never' },
    { match: 'kimi-k(?:[3-9]|\\d\\d)', reasoning_style: 'effort', reasoning_efforts: ['low', 'high', 'max'], sampling_with_reasoning: false },
    { match: '.', reasoning_style: 'thinking-type' },
  ],
  forward: ['prompt_cache_key'],
  reasoning_replay: 'reasoning_content',
  reasoning_replay_required: true,
  think_tags: 'none',
  // It accepts data URLs and files uploaded to it, but no other URLs.
  inline_images: true,
  inline_videos: true,
  video: 'video_url',
  audio: 'none',
}

export const MINIMAX_OPTIONS = {
  system_role: 'system',
  // Values must be above zero and at most one; others are errors.
  min_temperature: 0.01,
  max_temperature: 1,
  extra_body: { reasoning_split: true },
  // They choose their own amount of reasoning, and it can be switched off only since M3.
  models: [
    { match: '-[Mm](?:[3-9]|\\d\\d)', reasoning_style: 'effort', reasoning_efforts: [], off: 'thinking-type' },
    { match: '-[Mm][12]', reasoning_style: 'effort', reasoning_efforts: [] },
  ],
  reasoning_replay: 'reasoning_details',
  audio: 'none',
}

export const QWEN_OPTIONS = {
  // Two is outside the accepted range.
  max_temperature: 1.99,
  prefill_field: 'partial',
  // "The tool_choice parameter does not support being set to required or object in thinking mode", and some models have no other mode.
  models: [
    { match: 'thinking|^q[wv]q|deepseek-r1', reasoning_style: 'enable-thinking', forced_tools: 'never' },
    { match: '.', reasoning_style: 'enable-thinking', forced_tools: 'without-reasoning' },
  ],
  think_tags: 'none',
  video: 'video_url',
  cache_breakpoints: true,
}

export const DOUBAO_OPTIONS = {
  system_role: 'system',
  reasoning_style: 'thinking-type',
  reasoning_replay: 'reasoning_content',
  think_tags: 'none',
  video: 'video_url',
}

export const OLLAMA_OPTIONS = {
  system_role: 'system',
  reasoning_style: 'effort',
  reasoning_efforts: ['none', 'low', 'medium', 'high'],
  reasoning_replay: 'reasoning',
  image_detail: false,
  inline_images: true,
  audio: 'none',
}
