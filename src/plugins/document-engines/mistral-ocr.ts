import { fieldsOf, listOf } from '../shared/ask-service.ts'
import type { DocumentEngine } from '../shared/document-engine.ts'

/** With more images many upstreams refuse the whole request. */
const MAX_IMAGES = 8
/** More pages than a document may have here. A larger count is nonsense, and the caller would be charged by it. */
const MAX_PAGES = 10_000

/** Also reads scans and images. */
export const mistralOcr: DocumentEngine = {
  name: 'mistral-ocr',
  env: { apiKey: ['MISTRAL_API_KEY'] },
  baseUrl: 'https://api.mistral.ai/v1',
  price: 0.002,
  request: ({ bytes }) => ({
    path: '/ocr',
    headers: {},
    body: JSON.stringify({
      model: 'mistral-ocr-latest',
      document: { type: 'document_url', document_url: `data:application/pdf;base64,${Buffer.from(bytes).toString('base64')}` },
      include_image_base64: true,
      image_limit: MAX_IMAGES,
    }),
  }),
  read(body) {
    const { pages, usage_info: usage } = fieldsOf(body)
    if (!Array.isArray(pages)) return undefined
    const read = listOf(pages).map(fieldsOf)
    const { pages_processed: counted } = fieldsOf(usage)
    const images = read.flatMap(({ images: inside }) => listOf(inside).flatMap((image) => dataUrl(fieldsOf(image)['image_base64'])))
    return {
      text: read
        .map(({ markdown }) => (typeof markdown === 'string' ? markdown.trim() : ''))
        .filter((text) => text !== '')
        .join('\n\n'),
      pages: isPageCount(counted) ? counted : read.length,
      images: images.slice(0, MAX_IMAGES),
    }
  },
}

const isPageCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_PAGES

function dataUrl(value: unknown): readonly string[] {
  if (typeof value !== 'string' || value === '') return []
  return [value.startsWith('data:') ? value : `data:image/jpeg;base64,${value}`]
}
