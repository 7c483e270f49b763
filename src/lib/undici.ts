/**
 * The parts of undici that are used, from their own files. The entry of the package also loads its `fetch`, caches and mocks: 3 MB in each thread and
 * a tenth of the time of a start.
 */
import type { Dispatcher } from 'undici'
import api from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import symbols from 'undici/lib/core/symbols.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Client from 'undici/lib/dispatcher/client.js'
import Pool from 'undici/lib/dispatcher/pool.js'

export { Agent, buildConnector, Client, Pool }

/** One request and its answer, as `dispatcher.request` would: that method is put there by the entry of the package. */
export const requestThrough = (dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData<unknown>> =>
  api.request.call(dispatcher, options)

/** Whether a client has a connection, which a request it is given would be sent over. `stats` says so as well, in an object made for each look. */
export const isConnected = (client: Client): boolean => (client as Client & { readonly [symbols.kConnected]: boolean })[symbols.kConnected]
