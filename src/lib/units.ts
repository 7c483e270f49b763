/** Durations and sizes in the notation of configurations. The parsers return undefined for anything else. */

const DURATION_UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SIZE_UNITS: { readonly [unit: string]: number } = {
  b: 1,
  k: 1_000,
  kb: 1_000,
  m: 1_000_000,
  mb: 1_000_000,
  g: 1_000_000_000,
  gb: 1_000_000_000,
  kib: 1_024,
  mib: 1_048_576,
  gib: 1_073_741_824,
}
const QUANTITY = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i

/** Milliseconds of `500ms`, `5s`, `1.5m`, `2h`, `1d`; a plain number counts seconds. */
export function parseDuration(value: unknown): number | undefined {
  return parse(value, DURATION_UNITS, 1_000)
}

/** Bytes of `512`, `64kB` (1000), `32MiB` (1024 x 1024); a plain number counts bytes. */
export function parseSize(value: unknown): number | undefined {
  return parse(value, SIZE_UNITS, 1)
}

function parse(value: unknown, units: { readonly [unit: string]: number }, plain: number): number | undefined {
  if (typeof value === 'number') return toWhole(value * plain)
  if (typeof value !== 'string') return undefined
  const [, amount, unit = ''] = QUANTITY.exec(value.trim()) ?? []
  if (amount === undefined) return undefined
  const factor = unit === '' ? plain : units[unit.toLowerCase()]
  return factor === undefined ? undefined : toWhole(Number(amount) * factor)
}

function toWhole(value: number): number | undefined {
  const rounded = Math.round(value)
  return Number.isSafeInteger(rounded) && rounded >= 0 ? rounded : undefined
}
