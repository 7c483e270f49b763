/** Times as date fields have them, in the reader's time zone: `2026-01-31T12:00`. '' means none. */

export function localOf(iso: string | undefined): string {
  const date = new Date(iso ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return ''
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const seconds = date.getSeconds() === 0 ? '' : `:${two(date.getSeconds())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}${seconds}`
}

/** Undefined for an invalid time. */
export function isoOf(local: string): string | undefined {
  const date = new Date(local)
  return local === '' || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
