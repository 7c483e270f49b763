import type { Charge, Rate, Settlement } from '../../core/counter.ts'

/** A process that counts alone takes its part of the rates; at least one request. */
export function shareOf(charge: Charge, peers: number): Charge {
  if (peers === 1) return charge
  return {
    ...charge,
    rates: ratesAtShare(charge.rates, peers),
    ...(charge.maxOpen === undefined ? {} : { maxOpen: Math.max(1, Math.floor(charge.maxOpen / peers)) }),
  }
}

/** What a call did not use goes back at the share it was taken at: at the whole limit only a part of it would. */
export const settledAtShare = (settlement: Settlement, peers: number): Settlement => ({
  ...settlement,
  payments: settlement.payments.map((payment) => ({ ...payment, rates: ratesAtShare(payment.rates, peers) })),
})

const ratesAtShare = (rates: readonly Rate[], peers: number): readonly Rate[] =>
  rates.map((rate) => ({ ...rate, limit: Math.max(1, rate.limit / peers) }))
