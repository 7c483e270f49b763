import { describeChatCompletions } from './chat-completions/openapi.ts'
import { describeEmbeddings } from './embeddings/openapi.ts'
import { describeGenerateContent } from './generate-content/openapi.ts'
import { describeMessages } from './messages/openapi.ts'
import { describeResponses } from './responses/openapi.ts'
import { describeDoors, type OpenApiParts } from './shared/describe-doors.ts'

/** What all front doors take and answer; apart from the doors themselves, as nothing of it is needed to serve. */
export const doorsOpenApi = (): OpenApiParts =>
  describeDoors([describeResponses(), describeChatCompletions(), describeMessages(), ...describeGenerateContent(), describeEmbeddings()])
