import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'

/** Longer than the retransmission of a lost first packet takes (a second), and short enough for two addresses within the connect limits. */
const PATIENCE_MS = 1_500

/**
 * For libraries that open their own connections (drivers of databases and message brokers), in each thread: Node abandons an address after a quarter of a
 * second and tries the next one, even an IPv6 address on a host without IPv6. HTTP connections try all addresses in parallel (`connector.ts`).
 */
export const waitForAddresses = (): void => setDefaultAutoSelectFamilyAttemptTimeout(PATIENCE_MS)
