import { gunzipSync } from 'node:zlib'
import type { ReceivedRequest } from './fake-destination.ts'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}
type Span = { readonly attributes?: readonly Attribute[] } & Readonly<Record<string, unknown>>

interface Envelope {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

export interface ReceivedSpan {
  readonly generationId: string
  readonly span: Readonly<Record<string, unknown>>
}

/** All spans in OTLP JSON bodies, in order of arrival. */
export function allSpans(requests: readonly Pick<ReceivedRequest, 'body'>[]): readonly Span[] {
  return requests.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse((body[0] === 0x1f ? gunzipSync(body) : body).toString()) as Envelope
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  })
}

/** The generations' own spans in OTLP JSON bodies, in order of arrival, including repetitions and without child spans. */
export function generationSpans(requests: readonly Pick<ReceivedRequest, 'body'>[]): readonly ReceivedSpan[] {
  return allSpans(requests).flatMap((span) => {
    const id = span.attributes?.find(({ key }) => key === 'gen_ai.response.id')?.value.stringValue
    return id === undefined ? [] : [{ generationId: id, span }]
  })
}
