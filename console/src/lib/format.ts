/** Figures for people. Every function accepts null for "unknown" and shows a dash. */

export const NOTHING = '–'
type Maybe = number | null | undefined

const isKnown = (value: Maybe): value is number => value !== null && value !== undefined && Number.isFinite(value)

/** USD. Calls cost fractions of a cent: at least two significant digits, and never `$0.00` for more than zero. */
export function usd(value: Maybe): string {
  if (!isKnown(value)) return NOTHING
  const size = Math.abs(value)
  if (size === 0) return '$0'
  if (size >= 1) return `$${Number(value.toFixed(2)).toLocaleString('en-US', { minimumFractionDigits: 2 })}`
  return `$${value.toPrecision(2).includes('e') ? value.toExponential(1) : Number(value.toPrecision(2)).toString()}`
}

const grouped = (value: number, digits: number): string => value.toLocaleString('en-US', { maximumFractionDigits: digits })

/** A count: `1,234`. */
export const count = (value: Maybe): string => (isKnown(value) ? grouped(value, 0) : NOTHING)

/** A short count: `1.2K`, `3.4M`. */
export const short = (value: Maybe): string =>
  isKnown(value) ? value.toLocaleString('en-US', { notation: 'compact', maximumSignificantDigits: 3 }) : NOTHING

/** USD where there is little room: thousands as `$1.2K`. */
export const briefUsd = (value: Maybe): string => (isKnown(value) && Math.abs(value) >= 1_000 ? `$${short(value)}` : usd(value))

/** Milliseconds as `840 ms`, `1.3 s`, `2 min 5 s`. */
export function duration(ms: Maybe): string {
  if (!isKnown(ms)) return NOTHING
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export const percent = (share: Maybe): string => (isKnown(share) ? `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %` : NOTHING)

/** A share as the value of a gauge, in percent, to the tenth, which is all that `percent` ever shows: screen readers read every digit, and accept no exponent. */
export const gauge = (share: number): number => Math.round(share * 1_000) / 10

export function bytes(value: Maybe): string {
  if (!isKnown(value)) return NOTHING
  const units = ['B', 'KB', 'MB', 'GB']
  const step = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
  return `${grouped(value / 1000 ** step, step === 0 ? 0 : 1)} ${units[step]}`
}

/** A point in time in the reader's time zone, to the second. */
export function moment(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return NOTHING
  const date = new Date(iso)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** The same to the minute. */
export const minute = (iso: string | null | undefined): string => moment(iso).slice(0, 'yyyy-mm-dd hh:mm'.length)

/** How long ago: `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function ago(iso: string | null | undefined, now: number): string {
  if (iso === null || iso === undefined) return NOTHING
  const seconds = Math.round((now - Date.parse(iso)) / 1_000)
  if (seconds < 1) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`
}
