import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'

/** Longer than a first packet that was lost takes to be sent again, a second, and short enough for two addresses within the limits of a connection. */
const PATIENCE_MS = 1_500

/**
 * For whatever connects by itself (drivers of databases, message brokers), in each thread: Node closes an address that has not answered after a quarter of
 * a second and takes the next, though it may be one of IPv6 where there is none. Those who call over HTTP have all of them tried side by side (`connector.ts`).
 */
export const waitForAddresses = (): void => setDefaultAutoSelectFamilyAttemptTimeout(PATIENCE_MS)
