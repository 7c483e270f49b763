import { GatewayError } from '../core/error.ts'

/** What the system says when an address cannot be listened on, and what the operator can do about it. */
const REFUSALS: { readonly [code: string]: (host: string, port: number) => string } = {
  EADDRINUSE: (_host, port) => `Port ${port} is in use; choose another with --port or SIGNALBOX_PORT.`,
  EACCES: (_host, port) => `Port ${port} may not be opened by the user this process runs as; choose one above 1023 with --port or SIGNALBOX_PORT.`,
  EADDRNOTAVAIL: (host) => notOfThisMachine(host),
  EAFNOSUPPORT: (host) => notOfThisMachine(host),
  ENOTFOUND: (host) => notOfThisMachine(host),
  EAI_AGAIN: (host) => notOfThisMachine(host),
}

const notOfThisMachine = (host: string): string =>
  `${host} is no address of this machine; set --host or SIGNALBOX_HOST to one it has, such as 127.0.0.1, or 0.0.0.0 for all.`

/** Opens the port. Throws GatewayError `invalid_request` with what to choose instead. */
export async function listenOr<T>(open: () => Promise<T>, { host, port }: { readonly host: string; readonly port: number }): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const refusal = REFUSALS[(error as NodeJS.ErrnoException).code ?? '']
    if (refusal === undefined) throw error
    throw new GatewayError('invalid_request', refusal(host, port), { cause: error })
  }
}
