// The package has types only for its entry; these are the same classes, imported from their own files.
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici'
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}
declare module 'undici/lib/api/index.js' {
  import type { Dispatcher } from 'undici'
  const api: { readonly request: Dispatcher['request'] }
  export default api
}
declare module 'undici/lib/core/symbols.js' {
  const symbols: { readonly kConnected: unique symbol; readonly kParser: unique symbol }
  export default symbols
}
