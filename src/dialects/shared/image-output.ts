import type { ModelRequest } from '../../core/request.ts'

/** Notes for `dropped` at an endpoint that answers with text alone: requested images, and how they should have looked. */
export function unmetImageOptions({ modalities, image_config: config }: ModelRequest): string[] {
  return [...(modalities?.includes('image') === true ? ['modalities: image'] : []), ...(Object.keys(config ?? {}).length > 0 ? ['image_config'] : [])]
}
