import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether a host, in its URL form or alone, always means this machine, so that nothing outside of it can be reached. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const family = isIP(bare)
  if (family === 0) return bare === 'localhost' || bare.endsWith('.localhost')
  return LOOPBACK.check(bare, family === 6 ? 'ipv6' : 'ipv4')
}
