export interface NamedProvider {
  readonly slug: string
  readonly name: string
}

/**
 * A provider's name written like a slug: `Z.AI` is `z-ai`. So clients spell providers whose slug here is another. A slug that only adds to
 * it is one of several of that name, and keeps to itself. Letters of any script are kept: what is left of a name without them may be another's.
 */
export function writtenName({ slug, name }: NamedProvider): string {
  const written = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
  const own = slug.toLowerCase()
  return written === '' || own.startsWith(`${written}-`) ? own : written
}

/** Whether a text names this provider: its slug, its name, or its name written like a slug, whatever the case. */
export function isNameOf(text: string, provider: NamedProvider): boolean {
  const lower = text.trim().toLowerCase()
  return lower === provider.slug.toLowerCase() || lower === provider.name.toLowerCase() || lower === writtenName(provider)
}

/**
 * If the provider is one of several accounts of a vendor: the vendor's names, in lower case. Whoever names the vendor means all its accounts. Empty
 * for other providers.
 */
export const vendorNames = (vendor: NamedProvider | undefined): readonly string[] =>
  vendor === undefined ? NONE : [vendor.slug, vendor.name.toLowerCase(), writtenName(vendor)]

const NONE: readonly string[] = []

/** The tag an endpoint would have as the vendor's: `openai/flex` for `openai-eu/flex`. */
export const vendorTag = (tag: string, provider: string, vendor: NamedProvider): string => vendor.slug + tag.toLowerCase().slice(provider.length)
