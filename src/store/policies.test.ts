import { describeOnBothEngines } from '../testing/both-engines.ts'
import { describeGuardrailsContract } from '../testing/guardrails-contract.ts'
import { describePresetsContract } from '../testing/presets-contract.ts'
import { createStore } from './index.ts'

await describeOnBothEngines('the presets contract', createStore, describePresetsContract)
await describeOnBothEngines('the guardrails contract', createStore, describeGuardrailsContract)
