/** PostgreSQL's text cannot contain NUL, which callers may send. */
export const text = (value: string): string => (value.includes('\0') ? value.replaceAll('\0', '') : value)

/** The columns are whole numbers, but monotonic clocks have fractions, and upstreams may report any number. */
export const integer = (value: number): number => (Number.isFinite(value) ? Math.round(value) : 0)
