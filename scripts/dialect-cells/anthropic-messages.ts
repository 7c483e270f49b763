import { BY_PRICE, MATRIX, NONE, SCOPES, type Cells } from './cell.ts'

export const anthropicMessages: Cells = {
  text: [
    'blocks',
    'stream: the worked example: thoughts, text, a call > becomes three items and an end',
    'stream: whole bodies > say what the stream says',
  ],
  image_in: ['by URL, or fetched', 'request: encoding, by golden file > media', 'request: encoding, by golden file > media-inlined'],
  audio_in: [NONE, 'another endpoint is asked', 'request: media > audio that the endpoint cannot take lead to another endpoint'],
  file_in: [
    'PDF and text documents',
    'request: encoding, by golden file > media',
    'request: media > are fetched first where the endpoint wants bytes',
  ],
  video_in: [NONE, 'another endpoint is asked', 'request: media > video that the endpoint cannot take lead to another endpoint'],
  image_out: [NONE, 'named as dropped', 'request: what is never sent > a wish for images, which it names'],
  roles: ['`system`; later ones where they stand', 'request: turns > keep system text in the middle in its place, or as text of the user'],
  tools: [
    'tools',
    'request: encoding, by golden file > tool-loop-with-budget',
    'request: turns > have all results of a turn first in the one message that follows, whatever order they came in',
  ],
  parallel_calls: [
    'blocks',
    'stream: calls > in parallel keep id, name and arguments apart',
    'request: encoding, by golden file > tool-loop-continued',
  ],
  custom_tools: [
    'as a tool with one string',
    'request: encoding, by golden file > free-form-and-namespace-tools',
    'stream: calls > of free-form tools stream their one string as it stands',
  ],
  structured_output: [
    '`output_config.format`',
    'request: encoding, by golden file > schema-native',
    'request.property: any schema > is reduced to closed objects, and reducing it again changes nothing',
  ],
  structured_fallback: [
    'forced tool, prompt',
    'request: encoding, by golden file > schema-as-tool',
    'request: encoding, by golden file > schema-in-prompt',
    'stream: a hidden answer tool > turns its input into text',
  ],
  logprobs: [NONE, 'named as dropped', 'request: encoding, by golden file > every-parameter'],
  citations: [
    'of searches and documents',
    'stream: citations > come before the text they cite and follow it as annotations',
    'stream: citations > name documents of the request by title',
  ],
  refusals: [
    'stop reason and its words',
    'stream: the end > of a refusal has its text',
    'stream: the end > of a refusal without text is a content filter, before and after the first text',
  ],
  service_tiers: ['where declared', 'request: encoding, by golden file > every-parameter', 'stream: usage > says which tier served'],
  caching: [
    'four breakpoints, 5 minutes or an hour',
    'request: encoding, by golden file > cache-breakpoints',
    'request: cache breakpoints > never change the prefix that is cached',
    'request: cache breakpoints > are left out where they are not supported, and short where long ones are not supported',
  ],
  usage: [
    'cumulative, cache added',
    'stream: usage > adds what was read from and written to the cache to the input',
    'stream: usage > is cumulative: later numbers replace earlier ones, nulls do not',
  ],
  cost: ['list prices', BY_PRICE],
  reasoning: [
    'budget or adaptive, by model',
    'request: thinking > is reported when it is left out',
    'stream: thoughts > that are not shown are an item with a signature',
  ],
  continuity: [
    'signatures, redacted blocks',
    'round-trip: a turn that comes back > as they are, is what the model wrote',
    'request: reasoning of the history > comes back from the envelope and from plain fields, byte for byte',
    'request: thinking > in a tool loop > stays off when the loop began without it, where the endpoint requires that',
    SCOPES,
    MATRIX,
  ],
  web_search: [
    'where declared',
    'request: encoding, by golden file > web-search-and-native-tools',
    'stream: tools the upstream runs > search the web as an item that carries its blocks',
    'e2e/scenarios/server-tools-native.test.ts: web_search through %s > is the vendor’s own with engine %s, without any engine of the gateway',
  ],
  builtin_tools: [
    'where declared; carried between turns',
    'stream: tools the upstream runs > call servers as an item',
    'stream: tools the upstream runs > of other kinds, and unknown blocks, are kept for the next request',
    'request: blocks of server tools > are sent back while their tool is offered, to the account that wrote them',
  ],
  errors_before: ['any body', 'answers: answers, by golden file > http-529', 'answers: answers, by golden file > http-400-balance'],
  errors_inside: [
    '`event: error`',
    'stream: errors in the stream > before any content leave failover open',
    'answers: answers, by golden file > overloaded-before-content',
    'answers: answers, by golden file > overloaded-after-content',
  ],
  truncation: [
    'never complete',
    'answers: answers, by golden file > cut-inside-a-frame',
    'stream: calls > cut by the limit are incomplete and not repaired, also before their first argument',
  ],
}
