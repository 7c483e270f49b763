import type { DeliveryRecord } from '../../core/delivery.ts'
import { toChatAnswer, toChatMessages, toChatTools } from './chat-shape.ts'
import { hasCost, hasUsage } from './gen-ai-attributes.ts'

/** A generation as one plain JSON object, for files and queues whose readers do their own processing. */
export function toGenerationEvent(record: DeliveryRecord): Readonly<Record<string, unknown>> {
  const { generation, content, names, ids } = record
  return {
    id: generation.id,
    time: new Date(generation.startedAt).toISOString(),
    status: generation.status,
    trace: { id: ids.trace, name: names.trace, span: names.wrapper, parent: ids.parent },
    name: names.generation,
    requested_model: generation.requestedModel,
    model: generation.model,
    provider: generation.provider,
    user: generation.externalUser,
    session: generation.sessionId,
    api_key_name: generation.keyName,
    duration_ms: generation.durationMs,
    first_token_ms: generation.firstTokenMs,
    finish_reason: generation.finishReason,
    usage: hasUsage(record) ? { ...generation.usage, raw: undefined } : undefined,
    cost: hasCost(record) ? generation.cost : undefined,
    parameters: generation.parameters,
    metadata: record.metadata,
    generation: record.broadcast,
    error: record.failure,
    input: content === undefined ? undefined : toChatMessages(content),
    output: content === undefined ? undefined : toChatAnswer(content),
    tools: content?.tools === undefined || content.tools.length === 0 ? undefined : toChatTools(content.tools),
    content_truncated: record.truncated ? true : undefined,
    steps: record.children.map(({ kind, name, startedAt, endedAt, ok, message, input, output }) => ({
      kind,
      name,
      start_ms: startedAt - generation.startedAt,
      duration_ms: endedAt - startedAt,
      ok,
      message,
      input,
      output,
    })),
  }
}
