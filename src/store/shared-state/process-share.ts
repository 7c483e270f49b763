import type { Charge, Rate, Settlement } from '../../core/counter.ts'

/** The share of the limits for a process that counts alone; at least one request. */
export function shareOf(charge: Charge, peers: number): Charge {
  if (peers === 1) return charge
  return {
    ...charge,
    rates: ratesAtShare(charge.rates, peers),
    ...(charge.maxOpen === undefined ? {} : { maxOpen: Math.max(1, Math.floor(charge.maxOpen / peers)) }),
  }
}

/** What a call did not use is given back at the share it was taken at; at the full limit only a part of it would be. */
export const settledAtShare = (settlement: Settlement, peers: number): Settlement => ({
  ...settlement,
  payments: settlement.payments.map((payment) => ({ ...payment, rates: ratesAtShare(payment.rates, peers) })),
})

const ratesAtShare = (rates: readonly Rate[], peers: number): readonly Rate[] =>
  rates.map((rate) => ({ ...rate, limit: Math.max(1, rate.limit / peers) }))
