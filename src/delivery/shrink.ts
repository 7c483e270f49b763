import type { DeliveryRecord } from '../core/delivery.ts'

/** Characters kept of each text, step by step; then the content goes as a whole. What is left is the record of the call. */
const STEPS = [16_384, 1_024, 0] as const

/** A record too large for its destination, made smaller: `step` counts from 1. Undefined when there is nothing left to cut. */
export function shrinkRecord(record: DeliveryRecord, step: number): DeliveryRecord | undefined {
  const chars = STEPS[step - 1]
  if (chars === undefined || (record.content === undefined && step > 1)) return undefined
  const { content, ...rest } = record
  const children = record.children.map(({ input, output, ...child }) => ({
    ...child,
    ...(chars > 0 && input !== undefined ? { input: cut(input, chars) } : {}),
    ...(chars > 0 && output !== undefined ? { output: cut(output, chars) } : {}),
  }))
  const parameters = cutAll(record.generation.parameters, Math.max(chars, 256))
  const metadata = cutAll(record.metadata, Math.max(chars, 1_024))
  return {
    ...rest,
    ...(chars > 0 && content !== undefined ? { content: cutAll(content, chars) } : {}),
    generation: { ...record.generation, parameters },
    metadata,
    children,
    truncated: true,
  }
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars
  return `${text.slice(0, end)} [truncated from ${text.length} characters]`
}

function cutAll<T>(value: T, chars: number): T {
  if (typeof value === 'string') return cut(value, chars) as T
  if (Array.isArray(value)) return value.map((element: unknown) => cutAll(element, chars)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, element]) => [key, cutAll<unknown>(element, chars)])) as T
}
