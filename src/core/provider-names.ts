export interface NamedProvider {
  readonly slug: string
  readonly name: string
}

/**
 * A provider's name written like a slug: `Z.AI` becomes `z-ai`. Clients use this form for providers whose slug here is different. A slug that extends
 * this form belongs to one of several providers of that name, so it is returned unchanged. Letters of all scripts are kept, because what remains of a
 * name without them may be the name of another provider.
 */
export function writtenName({ slug, name }: NamedProvider): string {
  const written = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
  const own = slug.toLowerCase()
  return written === '' || own.startsWith(`${written}-`) ? own : written
}

/** Whether a text names this provider: its slug, its name, or its name written like a slug; case-insensitive. */
export function isNameOf(text: string, provider: NamedProvider): boolean {
  const lower = text.trim().toLowerCase()
  return lower === provider.slug.toLowerCase() || lower === provider.name.toLowerCase() || lower === writtenName(provider)
}

/**
 * The lower-case names of the vendor if the provider is one of its accounts, because the vendor's name refers to all its accounts. Empty for other
 * providers.
 */
export const vendorNames = (vendor: NamedProvider | undefined): readonly string[] =>
  vendor === undefined ? NONE : [vendor.slug, vendor.name.toLowerCase(), writtenName(vendor)]

const NONE: readonly string[] = []

/** The tag that an endpoint would have at the vendor: `openai/flex` for `openai-eu/flex`. */
export const vendorTag = (tag: string, provider: string, vendor: NamedProvider): string => vendor.slug + tag.toLowerCase().slice(provider.length)
