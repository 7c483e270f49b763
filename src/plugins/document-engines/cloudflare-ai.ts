import { createHash } from 'node:crypto'
import { fieldsOf, listOf } from '../shared/ask-service.ts'
import type { DocumentEngine } from '../shared/document-engine.ts'

/** Converts documents to Markdown, free of charge. */
export const cloudflareAi: DocumentEngine = {
  name: 'cloudflare-ai',
  env: { apiKey: ['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_API_KEY'], account: ['CLOUDFLARE_ACCOUNT_ID'] },
  baseUrl: 'https://api.cloudflare.com/client/v4',
  price: 0,
  replaceable: true,
  request({ name, bytes }, account) {
    // A file cannot contain its own hash, so the hash is a safe boundary.
    const boundary = createHash('sha256').update(bytes).digest('hex')
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="${fileName(name)}"\r\ncontent-type: application/pdf\r\n\r\n`
    return {
      path: `/accounts/${encodeURIComponent(account)}/ai/tomarkdown`,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    }
  },
  read(body) {
    const [file] = listOf(fieldsOf(body)['result'])
    const { format, data } = fieldsOf(file)
    return format === 'error' || typeof data !== 'string' ? undefined : { text: data, images: [] }
  },
}

/** A name without characters that could end the header it is in. */
const fileName = (name: string): string =>
  `${name
    .replace(/[^\w.-]+/g, '_')
    .replace(/\.pdf$/i, '')
    .slice(0, 80)}.pdf`
