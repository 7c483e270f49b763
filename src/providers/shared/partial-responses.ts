/**
 * Options of `openai-responses` for servers that offer it beside chat completions and support only part of it: nothing stored, no tools except
 * functions, no fields about accounts and caches, and reasoning as text. They apply when an operator chooses that dialect.
 */
export const PARTIAL_RESPONSES = {
  verbosities: [],
  prompt_cache_key: false,
  prompt_cache_options: false,
  metadata: false,
  service_tier: false,
  safety_identifier: false,
  unknown_fields: 'drop',
  reasoning_efforts: ['low', 'medium', 'high'],
  reasoning_summary: false,
  encrypted_reasoning: false,
  reasoning_format: 'unknown',
  custom_tools: false,
  namespace_tools: false,
  async_calls: false,
  builtin_tools: false,
  allowed_tools: false,
  strict: 'only-true',
  optional_members: 'taken',
  tool_output_parts: false,
  input_parts: ['input_text', 'input_image'],
  phase: false,
}

/** The same for servers on the operator's machines, which cannot fetch the caller's URLs. */
export const LOCAL_RESPONSES = { ...PARTIAL_RESPONSES, inline_media: true, reasoning_text: true }
