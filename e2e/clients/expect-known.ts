import { expect } from 'vitest'

/**
 * Fails if a value that @openrouter/sdk has parsed contains anything, at any depth, that its schema did not recognise. `isCarried` exempts items by their
 * raw form.
 */
export function expectKnown(value: unknown, isCarried: (raw: unknown) => boolean = () => false): void {
  const found: string[] = []
  const look = (current: unknown, path: string): void => {
    if (typeof current !== 'object' || current === null) return
    const { isUnknown, raw } = current as { isUnknown?: unknown; raw?: unknown }
    if (isUnknown === true && (path === '' || !isCarried(raw)))
      found.push(`${path === '' ? 'the whole' : path}: ${JSON.stringify(raw).slice(0, 300)}`)
    for (const [key, child] of Object.entries(current)) look(child, path === '' ? key : `${path}.${key}`)
  }
  look(value, '')
  expect(found).toEqual([])
}
