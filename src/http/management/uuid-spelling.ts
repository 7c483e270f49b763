const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An id as it is stored. The digits of a UUID mean the same in either case, and some platforms write capitals; any other text stays as it is. */
export const asStored = (id: string): string => (UUID.test(id) ? id.toLowerCase() : id)

/** The same for the `id` in a path, in place. Slugs are names that people chose, and keep their case. */
export function spellId(params: unknown): void {
  const path = params as { id?: unknown } | null | undefined
  if (typeof path?.id === 'string') path.id = asStored(path.id)
}
