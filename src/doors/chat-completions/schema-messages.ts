import { z } from 'zod'
import { type Branch, byKind, byType, describeKind, fields, list, maybe, tagged } from '../responses/schema-combinators.ts'
import { inputAudio } from '../responses/schema-parts.ts'
import { cacheControl, count, flag, text } from '../responses/schema-shared.ts'

/** Messages of the Chat Completions format: roles instead of items, and calls inside the message that made them. */

const marked = { cache_control: maybe(cacheControl), prompt_cache_breakpoint: maybe(fields({ mode: z.literal('explicit') })) }

const address = z.string().min(1)
const textPart = tagged('text', { text: z.string(), ...marked })
const imagePart = tagged('image_url', {
  // Many clients send the URL itself instead of an object.
  image_url: byKind({ object: fields({ url: address, detail: maybe(z.enum(['auto', 'low', 'high', 'original'])) }), string: address }),
  ...marked,
})
const filePart = tagged('file', {
  file: fields({ file_data: text, file_id: text, filename: text }).refine(({ file_data: data, file_id: id }) => Boolean(data) || Boolean(id), {
    error: 'shows nothing: set "file_data" or "file_id"',
  }),
  ...marked,
})
/** A file by its address alone, as some clients of this format have it. */
const documentPart = tagged('document_url', { document_url: address, document_name: text, ...marked })
const video = { video_url: fields({ url: address }) }
const refusalPart = tagged('refusal', { refusal: z.string() })
/** Thoughts among the words, where clients of this format have them there. */
const thinkingPart = tagged('thinking', {
  thinking: list(byType([tagged('text', { text: z.string() })], { noun: 'part of a thought', others: fields({ type: z.string() }) })),
})

const PARTS: readonly Branch[] = [textPart, imagePart, inputAudio, filePart, documentPart, tagged('video_url', video), tagged('input_video', video)]

const FOREIGN_PARTS = new Map([
  ['input_text', '"text"'],
  ['output_text', '"text"'],
  ['input_image', '"image_url"'],
  ['input_file', '"file"'],
  ['image', '"image_url"'],
  ['document', '"file"'],
  ['tool_use', '"tool_calls" beside the content'],
  ['tool_result', 'a message of the role "tool"'],
])
function hint(type: string): string | undefined {
  const ours = FOREIGN_PARTS.get(type)
  return ours === undefined ? undefined : `is "${type}", a name of another API; here it is ${ours}`
}

const content = byKind({ string: z.string(), array: list(byType(PARTS, { noun: 'content part', hint })) })
/** Answers of a history may have every part too: clients rebuild histories, and each dialect knows what it can express. */
const assistantContent = byKind({ string: z.string(), array: list(byType([...PARTS, refusalPart, thinkingPart], { noun: 'content part', hint })) })

/** Clients send a call without arguments as an empty string or leave them out, and some send the object itself. */
const argumentsText = maybe(z.string({ error: ({ input }) => describeKind(input, 'a string of JSON') }))
const toolCall = byType(
  [
    tagged('function', { id: z.string().min(1), function: fields({ name: z.string().min(1), arguments: argumentsText }) }),
    tagged('custom', { id: z.string().min(1), custom: fields({ name: z.string().min(1), input: argumentsText }) }),
  ],
  { noun: 'tool call' },
)

const detail = { id: text, format: text, index: count }
const reasoningDetails = list(
  byType(
    [
      tagged('reasoning.text', { text, signature: text, ...detail }),
      tagged('reasoning.summary', { summary: z.string(), ...detail }),
      tagged('reasoning.encrypted', { data: z.string(), ...detail }),
    ],
    // Details of other gateways about their own tools come back with the history, and mean nothing to a model.
    { noun: 'reasoning detail', others: fields({ type: z.string() }) },
  ),
)

const images = list(fields({ image_url: fields({ url: address }) }))

/** A message, by its role. Null content counts as absent: strict clients write every field. */
export const message = byType(
  [
    tagged('system', { content: maybe(content), name: text }, 'role'),
    tagged('developer', { content: maybe(content), name: text }, 'role'),
    tagged('user', { content: maybe(content), name: text }, 'role'),
    tagged(
      'assistant',
      {
        content: maybe(assistantContent),
        name: text,
        refusal: text,
        reasoning: text,
        reasoning_content: text,
        reasoning_details: maybe(byKind({ array: reasoningDetails, string: z.string() })).describe(
          'The parts as they were received, or a text as in `reasoning`.',
        ),
        tool_calls: maybe(list(toolCall)),
        images: maybe(images),
        audio: maybe(fields({ transcript: text })).describe('An earlier audio answer; its transcript is used.'),
        partial: flag,
        function_call: z.null({ error: 'is the older form of "tool_calls"' }).optional(),
      },
      'role',
    ),
    tagged('tool', { content: maybe(content), tool_call_id: z.string().min(1), name: text }, 'role'),
  ],
  {
    noun: 'role',
    tag: 'role',
    hint: (role) => (role === 'function' ? 'is "function", which has become "tool": name the call it answers in "tool_call_id"' : undefined),
  },
)
