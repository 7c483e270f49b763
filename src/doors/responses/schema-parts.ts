import { z } from 'zod'
import { type Branch, byKind, byType, fields, list, maybe, tagged } from './schema-combinators.ts'
import { count, text } from './schema-shared.ts'

/** Content parts of messages, tool results and reasoning, with their annotations. */

const cacheBreakpoint = maybe(fields({ mode: z.literal('explicit') }))
const imageUrl = z.string({
  error: (issue) => (typeof issue.input === 'object' ? 'must be the URL itself (a string), not an object around it' : undefined),
})

const inputText = tagged('input_text', { text: z.string(), prompt_cache_breakpoint: cacheBreakpoint })

const inputImage = tagged('input_image', {
  image_url: maybe(imageUrl),
  file_id: text,
  detail: maybe(z.enum(['auto', 'low', 'high', 'original'])),
  prompt_cache_breakpoint: cacheBreakpoint,
})

const inputFile = tagged('input_file', {
  file_data: text,
  file_id: text,
  file_url: text,
  filename: text,
  prompt_cache_breakpoint: cacheBreakpoint,
})

/** No upstream fetches audio from a URL in this field: it would decode the URL as audio. */
const audioData = z
  .string()
  .refine((data) => !/^\s*https?:/i.test(data), { error: 'must hold the sound itself, as base64 or a data URL; an address is not fetched' })

/** Formats: those of the contract, and those that its documentation lists for chat completions. Which of them a model accepts is up to its upstream. */
export const inputAudio = tagged('input_audio', {
  input_audio: fields({ data: audioData, format: z.enum(['mp3', 'wav', 'aiff', 'aac', 'ogg', 'flac', 'm4a', 'pcm16', 'pcm24']) }),
})
const inputVideo = tagged('input_video', { video_url: z.string() })

const annotation = byType(
  [
    tagged('url_citation', { url: z.string(), title: text, start_index: count, end_index: count, content: text }),
    tagged('file_citation', { file_id: z.string(), filename: text, index: count }),
    tagged('file_path', { file_id: z.string(), index: count }),
  ],
  // Vendors add kinds of citations (pages, containers), which come back with the history.
  { noun: 'annotation', others: fields({ type: z.string() }) },
)

const tokenLogprob = { token: z.string(), logprob: z.number(), bytes: maybe(list(z.int())) }
const logprob = fields({ ...tokenLogprob, top_logprobs: maybe(list(fields(tokenLogprob))) })

const outputText = tagged('output_text', { text: z.string(), annotations: maybe(list(annotation)), logprobs: maybe(list(logprob)) })
const refusal = tagged('refusal', { refusal: z.string() })
const encryptedContent = tagged('encrypted_content', { encrypted_content: z.string() })

const INPUT_PARTS: readonly Branch[] = [inputText, inputImage, inputFile, inputAudio, inputVideo]

/** Part names of other APIs, and their names here. */
const FOREIGN_PARTS = new Map([
  ['text', '"input_text"'],
  ['image', '"input_image"'],
  ['image_url', '"input_image"'],
  ['file', '"input_file"'],
  ['document', '"input_file"'],
  ['audio', '"input_audio"'],
  ['video_url', '"input_video"'],
  ['tool_use', 'a "function_call" item of its own'],
  ['tool_result', 'a "function_call_output" item of its own'],
])

function hint(type: string): string | undefined {
  const ours = FOREIGN_PARTS.get(type)
  return ours === undefined ? undefined : `is "${type}", a name of another API; here it is ${ours}`
}

const noun = 'content part'

/** Any role may have any part: many clients rebuild histories, and each dialect knows what it can express. */
export const messageContent = byKind({ string: z.string(), array: list(byType([...INPUT_PARTS, outputText, refusal], { noun, hint })) })

export const toolOutput = byKind({ string: z.string(), array: list(byType([...INPUT_PARTS, encryptedContent], { noun, hint })) })

/** Messages between the agents of one answer. Parts of other types go to the upstream that made them. */
export const agentContent = list(byType([...INPUT_PARTS, outputText, refusal, encryptedContent], { noun, others: fields({ type: z.string() }) }))

/** Values of a stored prompt template. */
export const promptVariable = byKind({ string: z.string(), object: byType([inputText, inputImage, inputFile], { noun, hint }) })

/** For the reference: every content part by its type. */
export const CONTENT_PARTS: readonly Branch[] = [...INPUT_PARTS, outputText, refusal, encryptedContent]
