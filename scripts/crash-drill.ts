/**
 * Kills a gateway with SIGKILL at random moments under load and checks that everything recorded is delivered, and nothing in two versions.
 *
 *   node scripts/crash-drill.ts                        50 runs of 1,000 calls
 *   node scripts/crash-drill.ts --runs 5 --calls 200
 */
import { parseArgs } from 'node:util'
import { runCrashDrill } from '../src/testing/crash-drill.ts'
import { startFakeDestination } from '../src/testing/fake-destination.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '50' }, calls: { type: 'string', default: '1000' } } })
const receiver = await startFakeDestination()
const started = performance.now()
try {
  const report = await runCrashDrill({
    runs: Number(values.runs),
    calls: Number(values.calls),
    receiver,
    random: Math.random,
    onRun: (run, recorded, delivered) => console.log(`run ${run + 1}: ${recorded} recorded, ${delivered} delivered so far`),
  })
  const { recorded, delivered, repeated, missing, contradicting } = report
  console.log(
    `${recorded} recorded, ${delivered} delivered, ${repeated} repeated, ${missing.length} missing, ${contradicting.length} contradicting, ${((performance.now() - started) / 1000).toFixed(0)} s`,
  )
  if (missing.length > 0 || contradicting.length > 0 || recorded === 0) process.exitCode = 1
} finally {
  await receiver.close()
}
