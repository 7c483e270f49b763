/**
 * The parts of undici that are used, imported from their own files. The package's entry also loads its `fetch`, caches and mocks: 3 MB in each thread and
 * a tenth of the start-up time.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Dispatcher } from 'undici'
import api from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import symbols from 'undici/lib/core/symbols.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Client from 'undici/lib/dispatcher/client.js'
import Pool from 'undici/lib/dispatcher/pool.js'

export { Agent, buildConnector, Client, Pool }

/** One request and its answer, like `dispatcher.request`, a method that only exists once the package's entry is loaded. */
export const requestThrough = (dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData<unknown>> =>
  api.request.call(dispatcher, options)

/** Whether a client has a connection over which it would send a request. `stats` tells the same, but creates an object for each query. */
export const isConnected = (client: Client): boolean => (client as Client & { readonly [symbols.kConnected]: boolean })[symbols.kConnected]

interface Parser {
  onHeadersComplete: (this: Parser, status: number, ...rest: readonly unknown[]) => number
}

/**
 * undici breaks a connection on which `100 Continue` arrives, because it never asks for it. Servers and proxies send it unasked, and a client must be able to
 * skip it (RFC 9110, section 15.2). undici does skip every other informational answer, so its parser is given this one as one of those. The parser's class
 * can only be reached from a connection.
 */
const CONNECTED = 'undici:client:connected'
const skipContinue = (message: unknown): void => {
  const parser = (message as { readonly socket: { readonly [symbols.kParser]?: Parser } }).socket[symbols.kParser]
  // Node's own copy of undici reports on the same channel.
  if (parser === undefined) return
  unsubscribe(CONNECTED, skipContinue)
  const prototype = Object.getPrototypeOf(parser) as Parser
  const { onHeadersComplete } = prototype
  prototype.onHeadersComplete = function (status, ...rest) {
    return onHeadersComplete.call(this, status === 100 ? 102 : status, ...rest)
  }
}
subscribe(CONNECTED, skipContinue)
