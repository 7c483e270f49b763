export interface KeyOption {
  readonly value: string
  readonly label: string
}

interface ListedKey {
  readonly hash: string
  readonly name: string
  readonly label: string
}

/**
 * The keys to choose from, and chosen ones that the list does not contain, or not yet. Each is offered once: the gateway stores a list of hashes as it was
 * sent, pages of a list may overlap, and the component kit throws if an option is repeated.
 */
export function keyOptions(keys: readonly ListedKey[], chosen: readonly string[]): KeyOption[] {
  const labels = new Map(keys.map(({ hash, name, label }) => [hash, `${name} (${label})`]))
  for (const hash of chosen) if (!labels.has(hash)) labels.set(hash, hash.slice(0, 12))
  return [...labels].map(([value, label]) => ({ value, label }))
}
