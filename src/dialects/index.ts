import type { Dialect } from '../core/dialect.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import { invokeModel } from './anthropic-messages/invoke-model.ts'
import { bedrockConverse } from './bedrock-converse/index.ts'
import { cohereV2 } from './cohere-v2/index.ts'
import { gemini } from './gemini/index.ts'
import { openAiChat } from './openai-chat/index.ts'
import { openAiResponses } from './openai-responses/index.ts'
import { acceptsBuiltin } from './openai-responses/tools.ts'
import { withAdditionalTools } from './shared/additional-tools.ts'

/** The format with tools that stand in the input among the others, at endpoints that do not know them there. */
function readingInputTools<Options>(dialect: Dialect<Options>, knows: (options: Options) => boolean = () => false): Dialect<Options> {
  return {
    ...dialect,
    encodeRequest: (request, target) => dialect.encodeRequest(knows(target.options) ? request : withAdditionalTools(request), target),
    decoder: (request, target) => dialect.decoder(knows(target.options) ? request : withAdditionalTools(request), target),
  }
}

const responses = readingInputTools(openAiResponses, ({ builtin_tools: types }) => acceptsBuiltin('additional_tools', types))
const others = [anthropicMessages, invokeModel, bedrockConverse, cohereV2, gemini, openAiChat].map((dialect) => readingInputTools(dialect as Dialect))

/** Every upstream format, by name. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([...others, responses as Dialect].map((dialect) => [dialect.name, dialect]))
