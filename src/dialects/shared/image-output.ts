import type { ModelRequest } from '../../core/request.ts'

/** Notes for `dropped` where an endpoint answers with text alone: images that were asked for, and how images should have looked. */
export function unmetImageWishes({ modalities, image_config: config }: ModelRequest): string[] {
  return [...(modalities?.includes('image') === true ? ['modalities: image'] : []), ...(Object.keys(config ?? {}).length > 0 ? ['image_config'] : [])]
}
