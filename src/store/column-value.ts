/** PostgreSQL cannot hold NUL in text, and a caller may have sent one. */
export const text = (value: string): string => (value.includes('\0') ? value.replaceAll('\0', '') : value)

/** Monotonic clocks give fractions, and upstreams count what they like; the columns are whole numbers. */
export const whole = (value: number): number => (Number.isFinite(value) ? Math.round(value) : 0)
