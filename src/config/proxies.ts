import { ConfigError } from '../core/config-error.ts'
import { nameOfProxy, ProxyVariableError, readProxies, type Proxies } from '../lib/proxy.ts'

type Environment = { readonly [name: string]: string | undefined }

/** The forward proxies named by the environment; undefined if there are none. Throws ConfigError. */
export function proxiesOf(env: Environment): Proxies | undefined {
  try {
    return readProxies(env)
  } catch (error) {
    if (error instanceof ProxyVariableError) throw new ConfigError([{ path: error.variable, message: error.message }])
    throw error
  }
}

/** For the operator, without user names and passwords: `https through http://proxy.test:3128, but for .svc 10.0.0.0/8`. */
export function describeProxies({ secure, plain, except }: Proxies): string {
  const ways = [
    ...(secure === undefined ? [] : [`https through ${nameOfProxy(secure)}`]),
    ...(plain === undefined ? [] : [`http through ${nameOfProxy(plain)}`]),
  ]
  return `${ways.join(', ')}${except === '' ? '' : `, but for ${except.split(/[\s,]+/).join(' ')}`}`
}
