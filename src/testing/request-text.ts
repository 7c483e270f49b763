import type { OutgoingRequest } from '../core/destination.ts'
import { decodeOtlpRequest } from './decode-otlp.ts'

export const bodyText = (request: OutgoingRequest): string => (request.body === undefined ? '' : request.body.toString('utf8'))
export const allText = (request: OutgoingRequest): string =>
  `${request.method} ${request.url}\n${JSON.stringify(request.headers)}\n${bodyText(request)}`

/** A request in readable form: JSON and protobuf expanded, NDJSON line by line. */
export function showRequest(request: OutgoingRequest): string {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)
  const notes = [request.compress ? `(${request.compress})` : '', request.records ? `(records ${request.records.join(', ')})` : ''].filter(
    (note) => note !== '',
  )
  return [`${request.method} ${request.url}`, ...headers, ...notes, '', showBody(request)].join('\n')
}

function showBody({ body, headers }: OutgoingRequest): string {
  if (body === undefined) return ''
  if (Object.values(headers).includes('application/x-protobuf')) return JSON.stringify(decodeOtlpRequest(Buffer.from(body)), null, 2)
  const text = body.toString('utf8')
  const pretty = (line: string): string => {
    try {
      return JSON.stringify(JSON.parse(line), null, 2)
    } catch {
      return line
    }
  }
  return text.endsWith('\n') && text.includes('{') ? text.split('\n').map(pretty).join('\n') : pretty(text)
}
