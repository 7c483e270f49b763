import { COSTS, MATRIX, NONE, SCOPES, type Cells } from './cell.ts'

export const openaiResponses: Cells = {
  text: [
    'messages',
    'stream: messages > passes text on with the part it belongs to, and says who answered',
    'stream: bodies > says the same as the stream of the same answer',
  ],
  image_in: [
    'as they come, or fetched',
    'request: messages > sends media as they came',
    'request: messages > sends the bytes of remote media to servers that cannot fetch',
  ],
  audio_in: ['`input_audio`', 'request: messages > sends media as they came'],
  file_in: ['as they come, or fetched', 'request: messages > sends media as they came'],
  video_in: [
    'where declared',
    'request: messages > sends media as they came',
    'request: messages > replaces media the endpoint does not take by a sentence',
  ],
  image_out: [
    'by tool, or `modalities` where declared',
    'request: answers with images > are requested where the fields are supported, else reported',
    'stream: built-in tools and unknown items > carries items without the upstream id, and completes them',
  ],
  roles: ['as they are', 'request: messages > turns developers into systems where there are none'],
  tools: [
    'as they are',
    'request: tools > go out as they came where the endpoint knows them',
    'stream: calls > announces a call and streams its arguments',
  ],
  parallel_calls: ['by index or id', 'stream: calls > keeps interleaved calls apart'],
  custom_tools: [
    'as they are, or as a function',
    'request: tools > are renamed, wrapped and flattened where they must be',
    'stream: calls > streams free-form input',
    'stream: calls > turns a call of a function that stands for a free-form tool back: %s',
  ],
  structured_output: ['`text.format`', 'request: parameters > sends formats and verbosity where they are supported'],
  structured_fallback: [
    NONE,
    'left out and named; the router prefers endpoints that have it',
    'request: parameters > sends formats and verbosity where they are supported',
  ],
  logprobs: [
    'in and out',
    'request: parameters > sends what the endpoint supports and names the rest',
    'stream: messages > passes log probabilities on, with the fields the contract wants',
  ],
  citations: ['known kinds', 'stream: messages > passes only annotations of known kinds, once'],
  refusals: ['`refusal` parts', 'stream: messages > keeps refusals apart from text, and their reason'],
  service_tiers: [
    'as they are',
    'request: parameters > keeps the fields of the full format from servers that lack them',
    'stream: messages > passes text on with the part it belongs to, and says who answered',
  ],
  caching: [
    '`prompt_cache_*`',
    'request: messages > loses ids and status, and gives every role its own kind of text',
    'request: parameters > keeps the fields of the full format from servers that lack them',
  ],
  usage: ['both spellings', 'usage: readUsage > reads the usual spelling', 'usage: readUsage > reads the spelling of Chat Completions'],
  cost: ['the vendor’s figure, else list prices', COSTS, 'usage: readUsage > reads a cost in %s'],
  reasoning: [
    'effort, budget, summary',
    'request: reasoning options > translates efforts to what the endpoint knows',
    'stream: reasoning > keeps summary and raw text apart',
  ],
  continuity: [
    'encrypted content, signatures, text',
    'stream: reasoning > seals encrypted content with format and scope, and takes it only from the finished item',
    'request: reasoning of earlier turns > goes back to the endpoint that minted it, without id and envelope',
    SCOPES,
    MATRIX,
  ],
  web_search: [
    'as it is',
    'e2e/scenarios/server-tools-native.test.ts: web_search > stays untouched in its native spelling, events included',
    'stream: built-in tools and unknown items > counts web searches where the upstream does not',
  ],
  builtin_tools: [
    'as they are, where known',
    'request: tools > of the vendor go out only where they are known',
    'stream: built-in tools and unknown items > carries items without the upstream id, and completes them',
  ],
  errors_before: ['any body', 'error: decodeError > classifies by content and names the provider'],
  errors_inside: [
    '`error`, `response.failed`',
    'stream: errors inside a stream > throws an error that comes %s',
    'golden: golden traces > quota-after-start',
  ],
  truncation: ['never complete', 'stream: ends > refuses a stream that ends %s', 'golden: golden traces > cut-inside-arguments'],
}
