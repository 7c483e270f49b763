import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'

/** Longer than a first packet that was lost takes to be sent again, a second, and short enough for two addresses within the limits of a connection. */
const PATIENCE_MS = 1_500

/**
 * For libraries that connect by themselves (drivers of databases and message brokers), in each thread: Node gives up an address after a quarter of a
 * second and tries the next one, even if that is an IPv6 address on a host without IPv6. HTTP connections try all addresses side by side
 * (`connector.ts`).
 */
export const waitForAddresses = (): void => setDefaultAutoSelectFamilyAttemptTimeout(PATIENCE_MS)
