import type { Attribute } from './attributes.ts'
import type { OtlpGroup, OtlpSpan } from './otlp-spans.ts'

/**
 * OTLP/JSON (specification 1.11): lowerCamelCase, ids as hex, enums as numbers, 64-bit integers as decimal strings, one member per value.
 * Empty lists and absent parents are left out.
 */
export function otlpJson(groups: readonly OtlpGroup[]): string {
  return JSON.stringify({
    resourceSpans: groups.map((group) => ({
      resource: { attributes: toAttributes(group.resource) },
      scopeSpans: [{ scope: { name: group.scope.name, version: group.scope.version }, spans: group.spans.map(toSpan) }],
    })),
  })
}

function toSpan(span: OtlpSpan): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: span.start,
    endTimeUnixNano: span.end,
    attributes: toAttributes(span.attributes),
    ...(span.events.length === 0
      ? {}
      : { events: span.events.map((event) => ({ timeUnixNano: event.time, name: event.name, attributes: toAttributes(event.attributes) })) }),
    status: span.status,
  }
}

const toAttributes = (attributes: readonly Attribute[]): readonly object[] =>
  attributes.map((attribute) => ({ key: attribute.key, value: toValue(attribute) }))

function toValue(attribute: Attribute): object {
  switch (attribute.kind) {
    case 'string':
      return { stringValue: attribute.value }
    case 'int':
      return { intValue: String(attribute.value) }
    case 'double':
      return { doubleValue: attribute.value }
    case 'bool':
      return { boolValue: attribute.value }
    case 'strings':
      return { arrayValue: { values: attribute.value.map((stringValue) => ({ stringValue })) } }
    default:
      return attribute satisfies never
  }
}
