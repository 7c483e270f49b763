import { createSseParser } from '../lib/sse.ts'
import type { SendOptions } from './program.ts'

interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** Control characters, but for the ends of lines and tabs. */
const CONTROL = /[^\P{Cc}\n\t]/gu

/** Models and servers may send escape sequences. On a terminal control characters are written out; elsewhere the text stays as it is. */
function asText({ isTTY }: Output, text: string): string {
  return isTTY === true ? text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`) : text
}

/** Where a gateway on this machine listens, as far as the environment tells. */
function gatewayUrl(env: { readonly [name: string]: string | undefined }): string {
  return env['SIGNALBOX_URL'] || `http://127.0.0.1:${env['SIGNALBOX_PORT']?.trim() || 8787}`
}

/** The address of the Responses API. Accepts what the gateway prints, a path a proxy adds, the base URL given to SDKs, and the full address. */
function responsesUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  const base = url.pathname.replace(/\/+$/, '').replace(/\/api\/v1(?:\/responses)?$/, '')
  return new URL(`${base}/api/v1/responses`, url)
}

/** `signalbox send`: one prompt to a running gateway over its public API; the answer streams to `out`. Returns the exit code. */
export async function send(prompt: string, options: SendOptions, out: Output, errors: Output): Promise<number> {
  const key = options.key ?? process.env['SIGNALBOX_API_KEY']
  if (key === undefined || key === '') {
    errors.write(
      'No key: pass --key or set SIGNALBOX_API_KEY (the gateway prints the first key when it starts; `signalbox keys create` makes more).\n',
    )
    return 1
  }
  const { url = gatewayUrl(process.env) } = options
  const address = responsesUrl(url)
  if (address === undefined) {
    errors.write(`${url} is not the URL of a gateway; expected one such as http://127.0.0.1:8787 (--url, SIGNALBOX_URL or SIGNALBOX_PORT)\n`)
    return 1
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    errors.write(
      'The key has characters that no key has: pass it whole with --key or SIGNALBOX_API_KEY, without spaces and dots for what was left out.\n',
    )
    return 1
  }
  let response: Response
  try {
    response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: options.model, input: prompt, stream: options.stream }),
    })
  } catch (error) {
    errors.write(`${whyUnreachable(url, error as Error)}\n`)
    return 1
  }
  try {
    return await printAnswer(response, options.stream, out, errors)
  } catch (error) {
    // An answer that is not the gateway's JSON was not written by a gateway; any other failure here is the connection's.
    const why = error instanceof SyntaxError ? `What answers at ${url} is no gateway` : `The connection to ${url} ended before the answer did`
    errors.write(`\n${why}.\n`)
    return 1
  }
}

/** `fetch` says only that it failed; the system's or OpenSSL's reason is in `cause`. */
function whyUnreachable(url: string, { cause }: { readonly cause?: unknown }): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code.startsWith('ERR_SSL_')) {
    return `${url} does not speak TLS. A gateway without a proxy in front is asked by http: ${url.replace('https:', 'http:')}`
  }
  if (code === '' || code === 'ECONNREFUSED') return `Nothing answers at ${url}. Is the gateway running (signalbox serve)?`
  return `${url} cannot be asked (${code}).`
}

const CUT = '\n(the answer was cut)\n'

interface Answer {
  readonly status?: string
  readonly output_text?: string
  readonly output?: readonly { readonly content?: readonly { readonly refusal?: string }[] }[]
}

async function printAnswer(response: Response, stream: boolean, out: Output, errors: Output): Promise<number> {
  if (!response.ok || response.body === null) {
    errors.write(asText(errors, `${response.status}: ${messageOf(await response.text())}\n`))
    return 1
  }
  if (stream) return printStream(response.body, out, errors)
  const answer = (await response.json()) as Answer | null
  if (typeof answer?.output_text !== 'string') throw new SyntaxError('no answer of a gateway')
  const refusals = answer.output?.flatMap(({ content }) => content?.map(({ refusal }) => refusal ?? '') ?? []) ?? []
  out.write(`${asText(out, answer.output_text + refusals.join(''))}${answer.status === 'incomplete' ? CUT : '\n'}`)
  return 0
}

async function printStream(body: AsyncIterable<Uint8Array>, out: Output, errors: Output): Promise<number> {
  let code: number | undefined
  const parser = createSseParser((data) => {
    if (data === '[DONE]') return
    const event = JSON.parse(data) as {
      readonly type: string
      readonly delta?: string
      readonly response?: { readonly error?: { readonly message: string } | null }
    }
    if (event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta') out.write(asText(out, event.delta ?? ''))
    else if (event.type === 'response.completed' || event.type === 'response.incomplete') {
      out.write(event.type === 'response.incomplete' ? CUT : '\n')
      code = 0
    } else if (event.type === 'response.failed') {
      errors.write(asText(errors, `\n${event.response?.error?.message ?? 'The answer failed.'}\n`))
      code = 1
    }
  })
  for await (const chunk of body) parser.push(Buffer.from(chunk))
  parser.end()
  if (code === undefined) errors.write('\nThe answer has no end: the stream stopped before it, or no gateway listens there.\n')
  return code ?? 1
}

function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } }
    return error?.message ?? text.slice(0, 300)
  } catch {
    return text.slice(0, 300)
  }
}
