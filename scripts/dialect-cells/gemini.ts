import { BY_PRICE, MATRIX, NONE, SCOPES, type Cells } from './cell.ts'

export const gemini: Cells = {
  text: [
    'parts',
    'stream: text > streams into one message that the close ends',
    'stream.property: any frames > give the same answer one by one and as one array',
  ],
  image_in: ['inline, or addresses it reads', 'request: encoding, by golden file > media'],
  audio_in: ['inline', 'request: encoding, by golden file > media'],
  file_in: [
    'inline, or addresses it reads',
    'request: encoding, by golden file > media',
    'request: media > the endpoint cannot read itself are asked for, once each, in results of tools too',
  ],
  video_in: ['inline, or addresses it reads', 'request: media > https://youtu.be/x is not fetched', 'request: encoding, by golden file > media'],
  image_out: [
    'models that make them',
    'request: media > images are asked for only where the model makes them',
    'stream: other parts > images are items with their bytes',
  ],
  roles: [
    '`systemInstruction`',
    'request: encoding, by golden file > tool-loop',
    'request: encoding, by golden file > tool-loop-without-system-instruction',
  ],
  tools: [
    'functions',
    'request: encoding, by golden file > tool-loop',
    'request: contents > hold the results of one turn alone, in the order of the calls, before what the user says',
  ],
  parallel_calls: [
    'a part each',
    'stream: calls > keep the id, or get one that is the same every time and differs between calls',
    'answers: answers, by golden file > thoughts-text-parallel-calls',
  ],
  custom_tools: [
    'as a function with one string',
    'request: encoding, by golden file > free-form-and-namespace-tools',
    'stream: calls > of free-form tools are unwrapped',
  ],
  structured_output: [
    '`responseJsonSchema`, `responseSchema`',
    'request: structured output > is native where it may be',
    'schemas: any schema > becomes one of the subset',
  ],
  structured_fallback: ['prompt', 'request: encoding, by golden file > schema-beside-tools-older-model'],
  logprobs: [
    'in and out',
    'request: encoding, by golden file > every-parameter',
    'stream: text > carries log probabilities with the text they belong to',
  ],
  citations: [
    'grounding, byte offsets converted',
    'stream: grounding > counts bytes and is given in UTF-16, after the text, with the search behind it',
    'stream: grounding > names sources the model recited',
  ],
  refusals: [
    'blocks by their reason',
    'stream: blocks and errors > a blocked prompt is a content policy error',
    'answers: answers, by golden file > blocked-while-answering',
  ],
  service_tiers: [
    'where declared',
    'request: encoding, by golden file > every-parameter',
    'request: the service tier > is sent in a header where one is declared, the default tier by leaving it out',
    'stream: usage > names the tier',
  ],
  caching: [NONE, 'implicit: the vendor caches by itself, reads are counted', 'stream: usage > cache reads'],
  usage: ['thoughts added, last count wins', 'stream: usage > is the last value of each count, also where only text came after it'],
  cost: ['list prices; searches by their unit', BY_PRICE, 'stream: grounding > is charged by %s in units of its own'],
  reasoning: [
    'budget or level, by model',
    'request: thinking > can be declared for any model',
    'stream: thoughts and signatures > are a summary, or text where the options say so',
  ],
  continuity: [
    'thought signatures, stand-in for others',
    'stream: thoughts and signatures > are sealed with format and scope for clients that return nothing else',
    'request: signatures > of another format are replaced by a placeholder',
    'round-trip: a model turn is sent back as it came, apart from reasoning text > signatures are not sent when the history goes to another vendor',
    SCOPES,
    MATRIX,
  ],
  web_search: [
    '`googleSearch`',
    'request: tools > search is native, beside functions only where models can',
    'answers: answers, by golden file > search-with-sources',
    'e2e/scenarios/server-tools-native.test.ts: web_search through %s > is the vendor’s own with engine %s, without any engine of the gateway',
  ],
  builtin_tools: [
    'code execution',
    'stream: other parts > code and its result are one item',
    'stream: other parts > steps of native tools are carried for the next turn',
  ],
  errors_before: [
    'any body',
    'stream: blocks and errors > a key that is refused with 400 counts as invalid',
    'stream: blocks and errors > a retry hint is read from the details',
  ],
  errors_inside: [
    'error chunks',
    'stream: blocks and errors > %s in the stream or as a whole body',
    'answers: answers, by golden file > error-after-start',
  ],
  truncation: [
    'never complete',
    'stream: the end > an answer without a finish reason is cut off',
    'answers: answers, by golden file > truncated',
    'answers: answers, by golden file > cut-by-limit',
  ],
}
