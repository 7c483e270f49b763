import { ProtobufWriter } from '../../lib/protobuf-writer.ts'
import type { Attribute } from './attributes.ts'
import type { OtlpGroup, OtlpSpan } from './otlp-spans.ts'

/** For a generation with two kilobytes of content, which occur five times in it. */
const USUAL_GROUP_BYTES = 16 * 1024

/** `ExportTraceServiceRequest` of opentelemetry/proto/collector/trace/v1; field numbers from the published definitions. */
export function otlpProtobuf(groups: readonly OtlpGroup[]): Buffer {
  const writer = new ProtobufWriter(groups.length * USUAL_GROUP_BYTES)
  for (const group of groups) {
    writer.message(1, (resourceSpans) => {
      resourceSpans.message(1, (resource) => writeAttributes(resource, 1, group.resource))
      resourceSpans.message(2, (scopeSpans) => {
        scopeSpans.message(1, (scope) => {
          scope.string(1, group.scope.name)
          scope.string(2, group.scope.version)
        })
        for (const span of group.spans) scopeSpans.message(2, (message) => writeSpan(message, span))
      })
    })
  }
  return writer.finish()
}

function writeSpan(message: ProtobufWriter, span: OtlpSpan): void {
  message.hex(1, span.traceId)
  message.hex(2, span.spanId)
  if (span.parentSpanId !== undefined) message.hex(4, span.parentSpanId)
  message.string(5, span.name)
  message.uint(6, span.kind)
  message.fixed64(7, BigInt(span.start))
  message.fixed64(8, BigInt(span.end))
  writeAttributes(message, 9, span.attributes)
  for (const event of span.events) {
    message.message(11, (m) => {
      m.fixed64(1, BigInt(event.time))
      m.string(2, event.name)
      writeAttributes(m, 3, event.attributes)
    })
  }
  message.message(15, (status) => {
    if (span.status.message !== undefined) status.string(2, span.status.message)
    status.uint(3, span.status.code)
  })
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: readonly Attribute[]): void {
  for (const attribute of attributes) {
    writer.message(field, (pair) => {
      pair.string(1, attribute.key)
      pair.message(2, (value) => writeValue(value, attribute))
    })
  }
}

function writeValue(value: ProtobufWriter, attribute: Attribute): void {
  switch (attribute.kind) {
    case 'string':
      return value.string(1, attribute.value)
    case 'bool':
      return value.uint(2, attribute.value ? 1 : 0)
    case 'int':
      return value.int64(3, attribute.value)
    case 'double':
      return value.double(4, attribute.value)
    case 'strings':
      return value.message(5, (list) => {
        for (const text of attribute.value) list.message(1, (element) => element.string(1, text))
      })
    default:
      return attribute satisfies never
  }
}
