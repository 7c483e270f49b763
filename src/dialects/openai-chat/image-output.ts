import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
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
