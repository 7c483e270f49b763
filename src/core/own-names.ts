/**
 * What the gateway calls its own: tools and their items are `gateway:<name>`, models that stand for a choice `gateway/<name>`. Drop-in clients of the
 * hosted router write its name instead, which means the same everywhere.
 */
const PREFIX = 'gateway:'
const ALIAS_PREFIX = 'openrouter:'

/** Both spellings, without what follows them. */
export const OWN_SPELLINGS = [PREFIX.slice(0, -1), ALIAS_PREFIX.slice(0, -1)] as const

/** The name in the type `gateway:<name>`, in either spelling; undefined for any other type. */
export function ownName(type: string): string | undefined {
  if (type.startsWith(PREFIX)) return type.slice(PREFIX.length)
  return type.startsWith(ALIAS_PREFIX) ? type.slice(ALIAS_PREFIX.length) : undefined
}

/** The type `gateway:<name>` in both spellings. */
export const ownTypes = (name: string): readonly [own: string, alias: string] => [PREFIX + name, ALIAS_PREFIX + name]

/** The gateway's own spelling of a type; any other type is unchanged. */
export function canonicalType(type: string): string {
  return type.startsWith(ALIAS_PREFIX) ? PREFIX + type.slice(ALIAS_PREFIX.length) : type
}

/** Whether a model's name is one of the gateway's own, in either spelling: `gateway/auto`. */
export const isOwnModel = (model: string): boolean => OWN_SPELLINGS.some((author) => model.startsWith(`${author}/`))
