import { GatewayError } from '../core/error.ts'

/** The store's own limits suit its work; these suit the snapshot. */
export const within = <T>(limitMs: number, work: Promise<T>): Promise<T> => untilSilent(limitMs, () => work)

/** The limit begins anew with each step of the work. */
export async function untilSilent<T>(limitMs: number, begin: (onStep: () => void) => Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(new GatewayError('provider_overloaded', `The database did not answer within ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([begin(() => void timer.refresh()), limit.promise])
  } finally {
    clearTimeout(timer)
  }
}
