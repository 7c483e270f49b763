import { describeOnBothEngines } from '../testing/both-engines.ts'
import { describeSpendContract } from '../testing/spend-contract.ts'
import { createStore } from './index.ts'

await describeOnBothEngines('the spend contract', createStore, describeSpendContract)
