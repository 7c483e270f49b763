import type { SourcePart } from './source-part.ts'
import { isReference, isSecretName, noteSecret, type Notation } from './references.ts'

/** Why an address cannot become a `base_url`, as the rest of a sentence that begins with its name; undefined if it can. */
export function faultOfAddress(text: string): string | undefined {
  if (text.includes('${')) return undefined
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.host === '' || /\s/.test(text)) return 'is no http or https URL'
  if (url.username !== '' || url.password !== '') return 'holds credentials, which belong into the headers of the provider'
  return url.search === '' && url.hash === '' ? undefined : 'has a query, which the address of a provider has not'
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]+$/
/** Headers that belong to each request. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length', 'expect', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** Headers for a provider; those that cannot be sent are noted. */
export function headersOf(places: readonly SourcePart[], { textOf }: Notation): { readonly [name: string]: string } {
  const entries = places
    .flatMap((place) => place.members())
    .flatMap((header) => {
      const value = textOf(header)
      if (value === undefined || !HEADER_VALUE.test(value) || !HEADER_NAME.test(header.key) || OWN_HEADERS.has(header.key.toLowerCase())) {
        header.note('do', 'left out: no header that can be sent')
        return []
      }
      if (isSecretName(header.key) && !isReference(value)) noteSecret(header)
      return [[header.key, value] as const]
    })
  return Object.fromEntries(entries)
}
