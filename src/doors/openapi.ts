import { describeChatCompletions } from './chat-completions/openapi.ts'
import { describeEmbeddings } from './embeddings/openapi.ts'
import { describeGenerateContent } from './generate-content/openapi.ts'
import { describeMessages } from './messages/openapi.ts'
import { describeResponses } from './responses/openapi.ts'
import { describeDoors, type OpenApiParts } from './shared/describe-doors.ts'

/** Requests and answers of all front doors; separate from the doors themselves, because serving needs none of it. */
export const doorsOpenApi = (): OpenApiParts =>
  describeDoors([describeResponses(), describeChatCompletions(), describeMessages(), ...describeGenerateContent(), describeEmbeddings()])
