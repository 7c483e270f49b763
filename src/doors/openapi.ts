import { describeChatCompletions } from './chat-completions/openapi.ts'
import { DEPLOYMENTS_PATH, FOLDER } from './deployments.ts'
import { describeEmbeddings } from './embeddings/openapi.ts'
import { describeGenerateContent } from './generate-content/openapi.ts'
import { describeMessages } from './messages/openapi.ts'
import { describeResponses } from './responses/openapi.ts'
import { describeDoors, type DoorDescription, type OpenApiParts } from './shared/describe-doors.ts'

const model = { name: 'model', in: 'path', required: true, description: 'The model, whatever the body names.', schema: { type: 'string' } }

/** A door and its other addresses. */
function withOthers(door: DoorDescription): readonly DoorDescription[] {
  const { id, summary, headers } = door
  const end = door.path.replace('/api/v1', '')
  const otherSummary = `${summary}, for clients that look for it below a folder`
  return [
    door,
    { ...door, path: `${FOLDER}${end}`, id: `${id}BelowFolder`, summary: otherSummary },
    { ...door, path: `${FOLDER}/v1${end}`, id: `${id}BelowFolderV1`, summary: otherSummary },
    {
      ...door,
      path: `${DEPLOYMENTS_PATH}{model}${end}`,
      id: `${id}OfDeployment`,
      summary: `${otherSummary}, by a deployment`,
      headers: [model, ...headers],
    },
  ]
}

/** Requests and answers of all front doors; separate from the doors themselves, because serving needs none of it. */
export const doorsOpenApi = (): OpenApiParts =>
  describeDoors([
    ...withOthers(describeResponses()),
    ...withOthers(describeChatCompletions()),
    describeMessages(),
    ...describeGenerateContent(),
    ...withOthers(describeEmbeddings()),
  ])
