import { BY_PRICE, MATRIX, NONE, SCOPES, type Cells } from './cell.ts'

export const bedrockConverse: Cells = {
  text: [
    'blocks',
    'stream: text > opens its message with the first text that is not empty, although blocks of text have no start',
    'stream: whole bodies > give what the stream gives',
  ],
  image_in: ['bytes, or s3 addresses', 'request: media > an image whose type is a lie', 'request: encoding, by golden file > media'],
  audio_in: ['bytes, by model', 'request: media > audio for a model with audio input', 'request: media > another endpoint may take: audio'],
  file_in: ['documents', 'request: media > a spreadsheet', 'request: media > gives documents names the service accepts, each once'],
  video_in: ['bytes or s3 addresses, by model', 'request: encoding, by golden file > media', 'request: media > another endpoint may take: video'],
  image_out: [NONE, 'named as dropped', 'request: sampling > a request for images is reported as unsupported'],
  roles: [
    '`system`; later ones as the user',
    'request: encoding, by golden file > tool-loop-claude',
    'request: any conversation > keeps the rules in every golden file',
  ],
  tools: ['`toolConfig`, by model', 'request: encoding, by golden file > tool-loop-nova', 'request: encoding, by golden file > tool-loop-mistral'],
  parallel_calls: [
    'blocks',
    'stream: tool calls > stand beside each other, with arguments as the model wrote them',
    'request: tool choice > with one call at a time is the model’s own field where it has one',
  ],
  custom_tools: ['as a tool with one string', 'stream: tool calls > come back under the names of the caller, free-form ones unwrapped'],
  structured_output: [
    '`outputConfig`, by model',
    'request: encoding, by golden file > schema-native',
    'schemas: the schema of the answer > is reduced to what Claude accepts; members named like keywords stay',
  ],
  structured_fallback: [
    'forced tool, prompt',
    'request: encoding, by golden file > schema-as-tool',
    'request: encoding, by golden file > schema-in-prompt',
    'stream: tool calls > of the answer tool are the answer',
  ],
  logprobs: [NONE, 'named as dropped', 'request: encoding, by golden file > every-parameter'],
  citations: [
    'web and documents',
    'stream: citations > cover the text of their block, wherever they stand in it',
    'stream: whole bodies > read cited text',
  ],
  refusals: [
    'guardrails and filters',
    'stream: the end > guardrail_intervened of a text is content_filter',
    'answers: answers, by golden file > guardrail-after-text',
  ],
  service_tiers: ['`serviceTier`', 'request: encoding, by golden file > every-parameter'],
  caching: ['cache points, lifetime by model', 'request: encoding, by golden file > cache-points'],
  usage: [
    'cache added, after the stop',
    'stream: the end > comes with the usage, which follows the stop, and counts what a cache read and wrote as input',
    'stream: the end > reads the doubled names of older answers and one-hour writes',
  ],
  cost: ['list prices', BY_PRICE],
  reasoning: [
    'six ways to ask, by model',
    'request: encoding, by golden file > thinking-budget',
    'request: encoding, by golden file > thinking-effort-nova',
    'stream: reasoning > is an item per block',
  ],
  continuity: [
    'signatures, redacted blocks',
    'stream: reasoning > carries its signature and the exact text it covers, in the contract fields and in the envelope',
    'request: reasoning > of another account or format, or without a signature, is not sent',
    SCOPES,
    MATRIX,
  ],
  web_search: [
    'system tools, by model',
    'request: tools the service runs > search and code are system tools where the model has them',
    'stream: tools the service runs > are items of the contract',
  ],
  builtin_tools: [
    'code execution, by model',
    'request: tools the service runs > search and code are system tools where the model has them',
    'stream: tools the service runs > are items of the contract',
  ],
  errors_before: ['headers and body', 'stream: errors before the stream > %i %s "%s" is %s'],
  errors_inside: [
    'exception frames',
    'stream: exceptions inside the stream > %s %j is %s',
    'answers: answers, by golden file > exception-throttlingException',
  ],
  truncation: ['never complete', 'stream: the end > before the stop is a truncation', 'answers: answers, by golden file > truncated-between-frames'],
}
