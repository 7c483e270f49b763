import type { Dialect } from '../core/dialect.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import { invokeModel } from './anthropic-messages/invoke-model.ts'
import { bedrockConverse } from './bedrock-converse/index.ts'
import { cohereV2 } from './cohere-v2/index.ts'
import { embeddingDialects } from './embeddings/index.ts'
import { gemini } from './gemini/index.ts'
import { openAiChat } from './openai-chat/index.ts'
import { openAiResponses } from './openai-responses/index.ts'

/** The formats of conversations. */
export const answerDialects = [
  anthropicMessages,
  invokeModel,
  bedrockConverse,
  cohereV2,
  gemini,
  openAiChat,
  openAiResponses,
] as readonly unknown[] as readonly Dialect[]

const all = [...answerDialects, ...(embeddingDialects as readonly unknown[] as readonly Dialect[])]

/** Headers in which callers ask for features of these formats. */
export const betaHeaders: readonly string[] = [...new Set(answerDialects.flatMap(({ betaHeaders: headers = [] }) => headers))]

/** Every upstream format, by name. */
export const dialects: ReadonlyMap<string, Dialect> = new Map(all.map((dialect) => [dialect.name, dialect]))
