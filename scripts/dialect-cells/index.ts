import type { Cells } from './cell.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import { bedrockConverse } from './bedrock-converse.ts'
import { cohereV2 } from './cohere-v2.ts'
import { gemini } from './gemini.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

/** Cells by dialect, in the order of the page's columns. */
export const CELLS: { readonly [dialect: string]: Cells } = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini: gemini,
  'bedrock-converse': bedrockConverse,
  'cohere-v2': cohereV2,
}
