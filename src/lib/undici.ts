/**
 * The parts of undici that are used, imported from their own files. The package's entry also loads its `fetch`, caches and mocks: 3 MB in each thread and
 * a tenth of the start-up time.
 */
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
