import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether a host, in its URL form or alone, always means this machine, so that nothing outside of it can be reached. */
export function isLoopback(host: string): boolean {
  const hostname = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const family = isIP(hostname)
  if (family === 0) return hostname === 'localhost' || hostname.endsWith('.localhost')
  return LOOPBACK.check(hostname, family === 6 ? 'ipv6' : 'ipv4')
}
