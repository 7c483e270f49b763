import { describeOnBothEngines } from '../testing/both-engines.ts'
import { describePolicyContract } from '../testing/policy-store-contract.ts'
import { createStore } from './index.ts'

await describeOnBothEngines('the policy contract', createStore, describePolicyContract)
