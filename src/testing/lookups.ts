import type { LookupFunction } from 'node:net'

/** Resolves any name to these addresses, and keeps the process busy for this many milliseconds in the same turn of the event loop. */
export const finding =
  (addresses: readonly string[], busyMs = 0): LookupFunction =>
  (_host, _options, found) =>
    void setImmediate(() => {
      found(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      )
      if (busyMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs)
    })

/** Nothing listens at the second address, like at an IPv6 address on a machine without IPv6. */
export const ONE_WORKS = ['127.0.0.1', '127.0.0.2']
