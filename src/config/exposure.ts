import { BlockList, isIP } from 'node:net'
import type { Config } from '../core/config.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether only this machine can reach a listener on the host. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const family = isIP(bare)
  if (family === 0) return bare === 'localhost' || bare.endsWith('.localhost')
  return LOOPBACK.check(bare, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * The sentence with which to refuse a start that would let others reach a gateway whose keys are generated; undefined when it may start.
 * Beyond loopback both keys and the secret key must be the operator's own.
 */
export function checkExposure(config: Pick<Config, 'server' | 'keys'>): string | undefined {
  const { host } = config.server
  if (isLoopback(host)) return undefined
  const { apiKey, managementKey, secretKey } = config.keys
  const missing = [
    ...(apiKey === undefined ? ['SIGNALBOX_API_KEY'] : []),
    ...(managementKey === undefined ? ['SIGNALBOX_MANAGEMENT_KEY'] : []),
    ...(secretKey === undefined ? ['SIGNALBOX_SECRET_KEY (32 bytes in base64: openssl rand -base64 32)'] : []),
  ]
  if (missing.length === 0) return undefined
  const names = missing.length === 1 ? missing[0] : `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`
  return `Refusing to listen on ${host}, which other machines can reach: set ${names}, or listen on 127.0.0.1.`
}
