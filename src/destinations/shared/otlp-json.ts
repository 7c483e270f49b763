import { JsonWriter } from '../../lib/json-writer.ts'
import type { Attribute } from './attributes.ts'
import type { OtlpGroup, OtlpSpan } from './otlp-spans.ts'

/** For a generation with two kilobytes of content, which occur five times in it. */
const USUAL_GROUP_BYTES = 16 * 1024

/**
 * OTLP/JSON (specification 1.11): lowerCamelCase, ids as hex, enums as numbers, 64-bit integers as decimal strings, one member per value. Empty lists
 * and absent parents are left out.
 *
 * Written directly to bytes: a span has some sixty attributes, so objects for `JSON.stringify` would outweigh the text they become, and prompt and
 * answer occur in each span under several names but need to be quoted only once.
 */
export function otlpJson(groups: readonly OtlpGroup[]): Buffer {
  const out = new JsonWriter(groups.length * USUAL_GROUP_BYTES)
  out.raw('{"resourceSpans":[')
  groups.forEach((group, i) => {
    if (i > 0) out.raw(',')
    writeGroup(out, group)
  })
  out.raw(']}')
  return out.finish()
}

function writeGroup(out: JsonWriter, { resource, scope, spans }: OtlpGroup): void {
  out.raw('{"resource":{"attributes":')
  writeAttributes(out, resource)
  out.raw('},"scopeSpans":[{"scope":{"name":')
  out.text(scope.name)
  out.raw(',"version":')
  out.text(scope.version)
  out.raw('},"spans":[')
  spans.forEach((span, i) => {
    if (i > 0) out.raw(',')
    writeSpan(out, span)
  })
  out.raw(']}]}')
}

/** Ids are hex and times decimal, so they need no quoting. */
function writeSpan(out: JsonWriter, span: OtlpSpan): void {
  out.raw(`{"traceId":"${span.traceId}","spanId":"${span.spanId}"`)
  if (span.parentSpanId !== undefined) out.raw(`,"parentSpanId":"${span.parentSpanId}"`)
  out.raw(',"name":')
  out.text(span.name)
  out.raw(`,"kind":${span.kind},"startTimeUnixNano":"${span.start}","endTimeUnixNano":"${span.end}","attributes":`)
  writeAttributes(out, span.attributes)
  if (span.events.length > 0) writeEvents(out, span.events)
  out.raw(`,"status":{"code":${span.status.code}`)
  if (span.status.message !== undefined) {
    out.raw(',"message":')
    out.text(span.status.message)
  }
  out.raw('}}')
}

function writeEvents(out: JsonWriter, events: OtlpSpan['events']): void {
  out.raw(',"events":[')
  events.forEach((event, i) => {
    out.raw(`${i > 0 ? ',' : ''}{"timeUnixNano":"${event.time}","name":`)
    out.text(event.name)
    out.raw(',"attributes":')
    writeAttributes(out, event.attributes)
    out.raw('}')
  })
  out.raw(']')
}

function writeAttributes(out: JsonWriter, attributes: readonly Attribute[]): void {
  let separator = '['
  for (const attribute of attributes) {
    out.raw(separator + keyText(attribute.key))
    writeValue(out, attribute)
    out.raw('}')
    separator = ','
  }
  out.raw(attributes.length === 0 ? '[]' : ']')
}

/** Quoted keys are cached. There are few and they are short; keys with callers' own names are bounded by number and length. */
const KEY_TEXTS = new Map<string, string>()
const MAX_KEYS = 2_000
const MAX_KEPT_CHARS = 100

function keyText(key: string): string {
  const known = KEY_TEXTS.get(key)
  if (known !== undefined) return known
  const text = `{"key":${JSON.stringify(key)},"value":`
  if (KEY_TEXTS.size < MAX_KEYS && key.length <= MAX_KEPT_CHARS) KEY_TEXTS.set(key, text)
  return text
}

function writeValue(out: JsonWriter, attribute: Attribute): void {
  switch (attribute.kind) {
    case 'string':
      return writeText(out, attribute.value)
    case 'int':
      return out.raw(`{"intValue":"${attribute.value}"}`)
    case 'double':
      return out.raw(`{"doubleValue":${attribute.value}}`)
    case 'bool':
      return out.raw(`{"boolValue":${attribute.value}}`)
    case 'strings':
      return writeTexts(out, attribute.value)
    default:
      return attribute satisfies never
  }
}

function writeText(out: JsonWriter, value: string): void {
  out.raw('{"stringValue":')
  out.text(value)
  out.raw('}')
}

function writeTexts(out: JsonWriter, values: readonly string[]): void {
  out.raw('{"arrayValue":{"values":[')
  values.forEach((value, i) => {
    if (i > 0) out.raw(',')
    writeText(out, value)
  })
  out.raw(']}}')
}
