import { afterEach, beforeEach, describe } from 'vitest'
import { describeMoney } from './counter-money-contract.ts'
import { describeRates } from './counter-rates-contract.ts'
import { CounterStage, type OpenCounter } from './counter-stage.ts'

/** What every counter must do, wherever it keeps its figures. */
export function describeCounterContract(name: string, open: OpenCounter): void {
  describe(name, () => {
    let stage: CounterStage
    beforeEach(async () => {
      stage = new CounterStage(open)
      await stage.begin()
    })
    afterEach(() => stage.dispose())

    describeMoney(() => stage)
    describeRates(() => stage)
  })
}
