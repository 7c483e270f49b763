import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A web site on loopback: pages by path, and a log of requests. */
export interface FakeSite {
  /** Its origin, without a slash at the end. */
  readonly url: string
  /** Requests in order of arrival. */
  readonly seen: readonly { readonly url: string; readonly headers: NodeJS.Dict<string | string[]> }[]
  /** By path, without the query; other paths get the listener that the site was started with. */
  readonly pages: { [path: string]: RequestListener }
  /** Forgets pages and requests. */
  clear(): void
  close(): void
}

const notFound: RequestListener = (_request, response) => void response.writeHead(404).end()

export async function startFakeSite(otherwise: RequestListener = notFound): Promise<FakeSite> {
  const seen: { readonly url: string; readonly headers: NodeJS.Dict<string | string[]> }[] = []
  const pages: { [path: string]: RequestListener } = {}
  const server = createServer((request, response) => {
    const url = request.url ?? ''
    seen.push({ url, headers: request.headers })
    const page = pages[url.split('?')[0] ?? ''] ?? otherwise
    page(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    pages,
    clear() {
      seen.length = 0
      for (const path of Object.keys(pages)) delete pages[path]
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
