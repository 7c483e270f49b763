import type { Target } from '../../core/dialect.ts'
import type { JsonObject, OtherItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { AssistantPart } from '../shared/conversation.ts'
import { imageUrlOf } from '../shared/image-item.ts'
import { unmetImageOptions } from '../shared/image-output.ts'
import type { OpenAiChatOptions } from './options.ts'

/** The fields that request answers with images, if the server knows them. */
export function encodeImageOutput(request: ModelRequest, options: OpenAiChatOptions, dropped: string[]): JsonObject {
  if (!options.image_output) {
    dropped.push(...unmetImageOptions(request))
    return {}
  }
  const { modalities, image_config: config } = request
  return {
    ...(modalities === undefined || modalities.length === 0 ? {} : { modalities }),
    ...(config === undefined || Object.keys(config).length === 0 ? {} : { image_config: config }),
  }
}

/**
 * Whether the model gets this picture of an earlier answer back. Without it, a model cannot change what it has drawn; one of text alone might be refused
 * with it.
 */
export const keepPicture = (item: OtherItem, { options, pictures = false }: Target<OpenAiChatOptions>): boolean =>
  options.image_output && pictures && imageUrlOf(item) !== undefined

/** Pictures of an earlier answer, in the member of the message in which the server sent them. */
export function picturesOf(parts: readonly AssistantPart[]): JsonObject {
  const images = parts.flatMap((part) => (part.type === 'item' ? [{ type: 'image_url', image_url: { url: imageUrlOf(part.item) } }] : []))
  return images.length === 0 ? {} : { images }
}
