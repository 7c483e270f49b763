import { BY_PRICE, COSTS, MATRIX, NONE, SCOPES, type Cells } from './cell.ts'

export const openaiChat: Cells = {
  text: ['messages', 'stream: text > streams text into one message', 'stream: text > gives the same for a whole body'],
  image_in: ['by URL, or fetched', 'request: encoding, by golden file > media', 'request: encoding, by golden file > media-inlined'],
  audio_in: ['`input_audio`', 'request: encoding, by golden file > media'],
  file_in: [
    '`file`, `document_url`, or as text',
    'request: encoding, by golden file > media',
    'request: media > are fetched first where the endpoint wants bytes',
  ],
  video_in: ['`video_url`, where declared', 'request: encoding, by golden file > media'],
  image_out: [
    '`modalities`, where declared',
    'request: answers with images > are asked for where the server knows how',
    'stream: text > turns pictures into image items',
  ],
  roles: [
    'in place, or first only',
    'request: encoding, by golden file > tool-loop-developer-role',
    'request: encoding, by golden file > tool-loop-unknown-server',
  ],
  tools: [
    'functions',
    'request: encoding, by golden file > tool-loop-unknown-server',
    'stream: tool calls > forwards arguments as they were written',
  ],
  parallel_calls: [
    'by index or id',
    'stream: tool calls > ends a complete call when the next begins, so that both stream',
    'request: encoding, by golden file > tool-loop-developer-role',
  ],
  custom_tools: [
    'as a function with one string',
    'request: encoding, by golden file > free-form-and-namespace-tools',
    'stream: tool calls > turns calls of free-form tools back, streaming their input',
  ],
  structured_output: ['`response_format`', 'request: encoding, by golden file > schema-native'],
  structured_fallback: [
    'JSON object, forced tool, prompt',
    'request: encoding, by golden file > schema-in-prompt',
    'request: encoding, by golden file > schema-as-tool',
    'stream: tool calls > makes the arguments of the answer tool the text',
  ],
  logprobs: ['in and out', 'request: encoding, by golden file > every-parameter', 'stream: text > carries log probabilities'],
  citations: [
    'annotations and source lists',
    'stream: annotations > flattens nested citations and keeps their offsets',
    'stream: annotations > cites sources listed beside the text once, at its end',
  ],
  refusals: ['`refusal`', 'stream: text > streams a refusal as such'],
  service_tiers: [
    'where declared',
    'request: encoding, by golden file > every-parameter',
    'request: the service tier > %s is sent under the server’s name for it',
    'stream: usage > says which tier served',
  ],
  caching: ['`cache_control`, where declared', 'request: encoding, by golden file > cache-control'],
  usage: ['every spelling', 'stream: usage > reasoning beside output, by the total'],
  cost: ['the vendor’s figure, else list prices', COSTS, BY_PRICE],
  reasoning: [
    'seven ways to ask',
    'request: reasoning > effort',
    'stream: reasoning > reasoning_content',
    'request: reasoning > is named when the server has no way to say it',
  ],
  continuity: [
    'text, details, signatures',
    'stream: reasoning > keeps details with their signature, pieces joined, as the server wrote them',
    'request: encoding, by golden file > reasoning-details',
    SCOPES,
    MATRIX,
  ],
  web_search: [
    'fields or a plugin, where declared',
    'request: web search > is the server’s own by fields of the request, beside functions and without them',
    'request: web search > is the server’s own by a plugin',
  ],
  builtin_tools: [
    NONE,
    'left out and named',
    'src/dialects/shared/tools.test.ts: flattenTools > drops and names tools that are no functions, and the second of one name',
  ],
  errors_before: ['any body', 'src/dialects/shared/errors.test.ts: body shapes > reads the message: typed event'],
  errors_inside: [
    'chunks, events, choices',
    'stream: failures inside an answer > an error event',
    'answers: answers, by golden file > overloaded-before-content',
    'stream: failures inside an answer > an error inside the choice',
  ],
  truncation: [
    'never complete',
    'stream: the end > calls a close without a reason broken off, unless declared',
    'answers: answers, by golden file > truncated-inside-arguments',
    'stream: tool calls > marks a call cut off by the limit, and does not repair it',
  ],
}
