import type { FetchedMedia, Target } from '../../core/dialect.ts'
import { GatewayError } from '../../core/error.ts'
import type { InputImage } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { visitParts } from '../shared/content-parts.ts'
import { readDataUrl } from '../shared/data-url.ts'

const isRemote = (url: string): boolean => /^https?:/i.test(url)

/** Pictures that must be fetched, for formats that accept only bytes. */
export function remoteImages({ input }: ModelRequest): readonly string[] {
  const urls = new Set<string>()
  visitParts(input, (part) => {
    if (part.type === 'input_image' && part.image_url && isRemote(part.image_url)) urls.add(part.image_url)
  })
  return [...urls]
}

/** A picture as base64. Throws if it is not available. */
export function bytesOf({ image_url: url }: InputImage, target: Pick<Target, 'media' | 'providerName'>): FetchedMedia {
  const media = url ? (isRemote(url) ? target.media?.get(url) : readDataUrl(url)) : undefined
  if (media === undefined || media.data === '') throw untakeable('pictures from this kind of address', target)
  return media
}

/** Another endpoint may accept it, so the error fails over. */
export const untakeable = (what: string, { providerName }: Pick<Target, 'providerName'>): GatewayError =>
  new GatewayError('invalid_prompt', `${providerName} takes no ${what} for embeddings`, { failover: 'next', path: 'input', providerName })
