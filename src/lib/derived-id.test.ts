import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { otlpParentSpanId, otlpSpanId, otlpTraceId, unixNanos, uuid7FromId, uuidFromId } from './derived-id.ts'

describe('OpenTelemetry ids', () => {
  it('hash the generation id, so that trace and span of a plain generation share their first digits', () => {
    expect(otlpTraceId('gen-1783220991-afTJPipoXDClAMTywVu2')).toBe('8ebcf0a15806fbd08fd19acea5a0c443')
    expect(otlpSpanId('gen-1783220991-afTJPipoXDClAMTywVu2')).toBe('8ebcf0a15806fbd0')
  })

  it('keep what the caller already has in the right form', () => {
    expect(otlpTraceId('0AF7651916CD43DD8448EB211C80319C')).toBe('0af7651916cd43dd8448eb211c80319c')
    expect(otlpTraceId('0AF76519-16cd-43dd-8448-eb211c80319c')).toBe('0af7651916cd43dd8448eb211c80319c')
    expect(otlpParentSpanId('B7AD6B7169203331')).toBe('b7ad6b7169203331')
    expect(otlpParentSpanId('my-span')).toBe(otlpSpanId('my-span'))
  })

  it('are never all zero, whatever the caller sends', () => {
    expect(otlpTraceId('0'.repeat(32))).not.toMatch(/^0+$/)
    expect(otlpTraceId('00000000-0000-0000-0000-000000000000')).not.toMatch(/^0+$/)
    expect(otlpParentSpanId('0'.repeat(16))).not.toMatch(/^0+$/)
  })

  it('are well formed for every text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(otlpTraceId(text)).toMatch(/^[0-9a-f]{32}$/)
        expect(otlpParentSpanId(text)).toMatch(/^[0-9a-f]{16}$/)
        expect(uuidFromId(text)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }),
    )
  })
})

describe('derived UUIDs', () => {
  it('keep a UUID and are stable for everything else', () => {
    expect(uuidFromId('0AF76519-16CD-43DD-8448-EB211C80319C')).toBe('0af76519-16cd-43dd-8448-eb211c80319c')
    expect(uuidFromId('gen-1')).toBe(uuidFromId('gen-1'))
    expect(uuidFromId('gen-1')).not.toBe(uuidFromId('gen-2'))
  })

  it('of version 7 begin with the time of the event', () => {
    const id = uuid7FromId('gen-1', 1_700_000_000_123)
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(1_700_000_000_123)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(uuid7FromId('gen-1', 1_700_000_000_123)).toBe(id)
  })
})

describe('unixNanos', () => {
  it('is exact for whole milliseconds and keeps fractions', () => {
    expect(unixNanos(1_700_000_000_123)).toBe('1700000000123000000')
    expect(unixNanos(1_700_000_000_123.5)).toBe('1700000000123500000')
    expect(unixNanos(1.9999999)).toBe('2000000')
  })
})
