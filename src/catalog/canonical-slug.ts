import { AUTHORS, CATALOG_VARIANTS, FAMILIES, NAMED_AFTER_MAKER, SAME_MODEL, SERVING_WORDS } from './data/model-names.ts'

export interface CanonicalName {
  /** `author/slug`, without variant. */
  readonly slug: string
  readonly variant?: string
}

/** The names by which the catalog spells models. Vendors' own ids are mapped to one of them where possible. */
export interface NamingIndex {
  readonly has: (slug: string) => boolean
  /** The slug whose name has the same meaning as this one, preferably one of that author. */
  readonly recognise: (name: string, author: string | undefined) => string | undefined
}

export function createNamingIndex(slugs: readonly string[]): NamingIndex {
  const known = new Set(slugs)
  const byFingerprint = new Map<string, string[]>()
  for (const slug of slugs) {
    const print = fingerprint(nameOf(slug), authorOf(slug))
    const same = byFingerprint.get(print)
    if (same === undefined) byFingerprint.set(print, [slug])
    else same.push(slug)
  }
  return {
    has: (slug) => known.has(slug),
    recognise(name, author) {
      const candidates = byFingerprint.get(fingerprint(name, author)) ?? []
      const own = author === undefined ? candidates : candidates.filter((slug) => authorOf(slug) === author)
      return own.toSorted(byPlainness)[0]
    },
  }
}

/** Sort order: chat-tuned before base, undated before dated, short before long. */
function byPlainness(a: string, b: string): number {
  const tuned = (slug: string): number => (/-(instruct|it|chat)$/.test(slug) ? 0 : 1)
  const dated = (slug: string): number => (/\d{4}-\d\d-\d\d|-\d{4,8}$/.test(slug) ? 1 : 0)
  return dated(a) - dated(b) || tuned(a) - tuned(b) || a.length - b.length || (a < b ? -1 : 1)
}

/**
 * The catalog's name for a vendor's model id: `llama-3.3-70b-versatile`, `meta-llama/Llama-3.3-70B-Instruct-Turbo` and
 * `us.meta.llama3-3-70b-instruct-v1:0` are all `meta-llama/llama-3.3-70b-instruct`. An id without a known author belongs to `fallbackAuthor`.
 */
export function canonicalName(id: string, fallbackAuthor: string, naming: NamingIndex): CanonicalName {
  const { base, variant } = splitVariant(id)
  const slug = canonicalSlug(base, fallbackAuthor, naming)
  return variant === undefined ? { slug } : { slug, variant }
}

export function splitVariant(id: string): { readonly base: string; readonly variant?: string } {
  const colon = id.lastIndexOf(':')
  const variant = colon < 0 ? '' : id.slice(colon + 1)
  return CATALOG_VARIANTS.has(variant) ? { base: id.slice(0, colon), variant } : { base: id }
}

function canonicalSlug(id: string, fallbackAuthor: string, naming: NamingIndex): string {
  const lower = id.toLowerCase()
  if (naming.has(lower)) return lower
  const { author, name } = splitAuthor(lower)
  const maker = author ?? makerOf(name)
  const exact = `${maker ?? fallbackAuthor}/${name}`
  if (naming.has(exact)) return exact
  const known = SAME_MODEL.get(name) ?? naming.recognise(name, maker) ?? naming.recognise(name, fallbackAuthor)
  return known ?? exact.replace(VERSION_P, '$1.$2')
}

/** The author of a model name that states none, by its prefix: `claude-sonnet-4-5` belongs to `anthropic`. */
export function makerOf(name: string): string | undefined {
  const lower = name.toLowerCase()
  return FAMILIES.find(([pattern]) => pattern.test(lower))?.[1]
}

/** Splits off the author if the id contains one that is known, or at least spells one: `org/name`, `@x/org/name`, `region.org.name-v1:0`. */
function splitAuthor(id: string): { readonly author?: string; readonly name: string } {
  const slash = id.lastIndexOf('/')
  if (slash >= 0) {
    const organisation = id.slice(0, slash).split('/').at(-1) ?? ''
    return { author: AUTHORS.get(organisation) ?? organisation, name: id.slice(slash + 1) }
  }
  const dotted = /^(?:[a-z]+\.)?([a-z0-9]+)\.([a-z].*)$/.exec(id)
  const author = dotted?.[1] === undefined ? undefined : AUTHORS.get(dotted[1])
  if (dotted?.[2] === undefined || author === undefined) return { name: id }
  return { author, name: dotted[2].replace(/(-v\d+)?(:\d+)?$/, '') }
}

/** `v3p2`, `k2p6`: the point of a version written as a letter. */
const VERSION_P = /(\d)p(\d)/g

const authorOf = (slug: string): string => slug.slice(0, slug.indexOf('/'))
const nameOf = (slug: string): string => slug.slice(slug.indexOf('/') + 1)

/** What remains of a name without its spelling and the way it is served. Two ids with the same remainder are the same model. */
export function fingerprint(name: string, author?: string): string {
  const spelled = name
    .toLowerCase()
    .replace(/-?(20\d{2}-\d{2}-\d{2}|20\d{6})/g, '')
    .replace(VERSION_P, '$1.$2')
    // `4-5` and `3_3` are versions with a point, too.
    .replace(/(?<![\d.])(\d)[-_](\d)(?![\d.a-z])/g, '$1.$2')
  const words: readonly string[] = spelled.match(/[a-z]+|\d+(?:\.\d+)*[a-z]*/g) ?? []
  const llama = words.includes('llama')
  const kept = words.filter((word, index) => {
    if (SERVING_WORDS.has(word)) return false
    if (word === 'v' && /^\d/.test(words[index + 1] ?? '')) return false
    // Precision: `fp8`, `bf16` and the like are split into a word and a number, and the number is dropped here.
    const before = words[index - 1]
    if (/^\d+$/.test(word) && (before === 'fp' || before === 'bf' || before === 'nvfp')) return false
    if (word === 'turbo' && llama) return false
    if (index === 0 && isAuthorWord(word, author) && words.length > 1 && !/^\d/.test(words[1] ?? '')) return false
    return true
  })
  return kept.join('-').replace(/\.0(?=-|$)/g, '')
}

/** A name may begin with the name of its maker: `meta-llama-3.1-8b`, `zai-glm-4.7`. */
function isAuthorWord(word: string, author: string | undefined): boolean {
  const maker = NAMED_AFTER_MAKER.has(word) ? undefined : AUTHORS.get(word)
  return maker !== undefined && (author === undefined || maker === author)
}
