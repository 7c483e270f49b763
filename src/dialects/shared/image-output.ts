import type { ModelRequest } from '../../core/request.ts'

/** Notes for `dropped` where an endpoint answers with text alone: images that were asked for, and how they should have looked. */
export function unmetImageWishes(request: ModelRequest): string[] {
  const wanted = request.modalities?.includes('image') === true
  return [...(wanted ? ['modalities: image'] : []), ...(request.image_config !== undefined && wanted ? ['image_config'] : [])]
}
