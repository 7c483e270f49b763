import type { LookupFunction } from 'node:net'

/** Finds these addresses for any name, and keeps the process busy for so many milliseconds in the same turn of the event loop. */
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

/** Nobody listens at the second address, as at one of IPv6 where there is none. */
export const ONE_WORKS = ['127.0.0.1', '127.0.0.2']
