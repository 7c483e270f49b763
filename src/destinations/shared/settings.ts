import { z } from 'zod'
import { isRefusedHeader } from '../../lib/egress-policy.ts'
import { isHeaderValue } from '../../lib/header-value.ts'

/** Parts of settings that all types share. Vendors' own rules are in their files. */

export type Headers = { readonly [name: string]: string }

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/
/** The sender itself sets headers that frame the message or name the peer, and decides about compression. */
const isForbidden = (name: string): boolean => isRefusedHeader(name) || name.toLowerCase() === 'content-encoding'

const headers = z
  .record(z.string(), z.string().max(8_192))
  .superRefine((map, context) => {
    if (Object.keys(map).length > 50) context.addIssue({ code: 'custom', message: 'at most 50 headers' })
    for (const [name, value] of Object.entries(map)) {
      if (!HEADER_NAME.test(name)) context.addIssue({ code: 'custom', path: [name], message: 'not a header name' })
      else if (isForbidden(name)) context.addIssue({ code: 'custom', path: [name], message: 'this header is set by the gateway' })
      if (!isHeaderValue(value))
        context.addIssue({ code: 'custom', path: [name], message: 'a header value is one line of ASCII or Latin-1 characters' })
    }
  })
  .describe('More headers for every request. Their values are never readable again.')

/** The settings of a type: its own fields and `headers`, nothing else. */
export function destinationSettings<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ ...shape, headers: headers.optional() })
}

/** The secrets that every type has: the values of `headers`. */
export const HEADER_SECRETS = 'headers.*'

const BLANK = 'is blank'

/** Required text of one line: most of it ends up in a header, where a pasted line break would fail much later. */
export const requiredText = (describe: string): z.ZodString => lineText().min(1).regex(/\S/, BLANK).describe(describe)

/** A credential that is sent unchanged in a header. Other characters that a header may hold do not belong to a key, but to a paste that went wrong. */
export const headerSecret = (describe: string): z.ZodString => headerText().min(1).regex(/\S/, BLANK).describe(describe)

export const headerText = (): z.ZodString => z.string().regex(/^[\x20-\x7e]*$/, 'is sent in a header: one line of printable ASCII is expected')

/** Text without line breaks and control characters. */
export const lineText = (): z.ZodString => z.string().regex(/^\P{Cc}*$/u, 'may not contain line breaks or control characters')

/** A setting as a header value: characters beyond Latin-1 are sent as their UTF-8 bytes. */
export const headerValue = (text: string): string => Buffer.from(text).toString('latin1')

/** An absolute http(s) address without credentials or fragment. Whether it may be reached is decided when it is used (lib/egress.ts). */
export const httpUrl = (describe: string): z.ZodString =>
  z.string().min(1).max(2_048).refine(isHttpUrl, 'must be an http or https address without credentials').describe(describe)

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return (
    (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '' && url.hash === '' && url.hostname !== ''
  )
}

/** Joins a base address and a path, with or without slashes. A query of the base stays at the end. */
export function joinUrl(base: string, path: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
  return url.href
}

/** The owner's headers below the type's own: names compare without case, and the type wins. */
export function mergeHeaders(custom: Headers | undefined, own: Headers): Headers {
  const taken = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const kept = Object.entries(custom ?? {}).filter(([name]) => !taken.has(name.toLowerCase()))
  return Object.fromEntries([...kept.map(([name, value]): [string, string] => [name.toLowerCase(), value]), ...Object.entries(own)])
}

/** `Basic` credentials. */
export const basicAuth = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
