import { MATRIX, NONE, SCOPES, type Cells } from './cell.ts'

export const cohereV2: Cells = {
  text: ['blocks', 'stream: content > is thoughts, then text'],
  image_in: [
    'by URL, models that see',
    'request: encoding, by golden file > documents-and-images',
    'request: media > another endpoint may take: images for a model that reads text',
  ],
  audio_in: [NONE, 'another endpoint is asked', 'request: media > another endpoint may take: audio'],
  file_in: ['text as `documents`', 'request: encoding, by golden file > documents-and-images', 'request: media > another endpoint may take: PDF'],
  video_in: [NONE, 'another endpoint is asked', 'request: media > another endpoint may take: video'],
  image_out: [NONE, 'named as dropped', 'request: media > a request for images is reported as unsupported'],
  roles: ['system messages', 'request: encoding, by golden file > tool-loop'],
  tools: [
    'functions',
    'request: encoding, by golden file > tool-loop',
    'request: any conversation > gives tools names without hyphens, and maps them back',
  ],
  parallel_calls: ['events each', 'stream: tool calls > run beside each other', 'stream: answers, by golden file > plan-and-parallel-tools'],
  custom_tools: ['as a function with one string', 'stream: tool calls > come back under the names of the caller'],
  structured_output: ['`response_format`', 'request: encoding, by golden file > schema'],
  structured_fallback: ['prompt, beside tools', 'request: encoding, by golden file > schema-beside-tools'],
  logprobs: [
    'in and out, without alternatives',
    'request: encoding, by golden file > every-parameter',
    'stream: content > carries log probabilities',
  ],
  citations: [
    'of documents and tools',
    'stream: citations > are at the right place, one annotation per source',
    'stream: citations > count characters, not code units',
  ],
  refusals: ['toxicity filter', 'stream: the end > toxic without content is a refusal of the prompt'],
  service_tiers: [NONE, 'named as dropped', 'request: encoding, by golden file > every-parameter'],
  caching: [NONE, 'the vendor caches by itself, reads are counted', 'stream: the end > brings usage: tokens, and beside them what is billed'],
  usage: ['tokens, and what is billed', 'stream: the end > brings usage: tokens, and beside them what is billed'],
  cost: [
    'billed units at list prices',
    'src/catalog/cost.test.ts: the cost of an answer > where the vendor reports billed tokens, those are priced and not the tokens the model saw',
  ],
  reasoning: [
    'budget; plans are reasoning',
    'request: encoding, by golden file > thinking-off',
    'stream: content > shows a plan as reasoning, not as text',
  ],
  continuity: [
    'plans and thoughts',
    'request: encoding, by golden file > reasoning-of-others',
    'stream: content > keeps a plan and thoughts apart',
    SCOPES,
    MATRIX,
  ],
  web_search: [NONE, 'the gateway searches', 'e2e/scenarios/server-tools-native.test.ts: web_search > of %s as %j is a function for the model'],
  builtin_tools: [
    NONE,
    'left out and named',
    'src/dialects/shared/tools.test.ts: flattenTools > drops and names tools that are no functions, and the second of one name',
  ],
  errors_before: ['any body', 'stream: errors before the stream > %i %s'],
  errors_inside: [
    '`message-end`, error events',
    'stream: the end > an error in the stream is an error',
    'stream: answers, by golden file > error-at-the-end',
  ],
  truncation: ['never complete', 'stream: answers, by golden file > truncated', 'stream: tool calls > cut off by the limit are incomplete'],
}
