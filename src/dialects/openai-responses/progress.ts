/**
 * Progress events of built-in tools in the public stream: the part of the name after `response.`, with the members that are forwarded. The diffs of
 * `apply_patch_call` are left out: the stream helper of a widespread client throws at them, and the finished item contains the whole diff.
 */
export const PROGRESS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...['web_search_call.in_progress', 'web_search_call.searching', 'web_search_call.completed'].map((name) => [name, []] as const),
  ...['image_generation_call.in_progress', 'image_generation_call.generating', 'image_generation_call.completed'].map((name) => [name, []] as const),
  ['image_generation_call.partial_image', ['partial_image_b64', 'partial_image_index']],
  ...['code_interpreter_call.in_progress', 'code_interpreter_call.interpreting', 'code_interpreter_call.completed'].map(
    (name) => [name, []] as const,
  ),
  ['code_interpreter_call_code.delta', ['delta']],
  ['code_interpreter_call_code.done', ['code']],
])
