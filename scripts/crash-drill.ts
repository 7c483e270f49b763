/**
 * Kills a gateway with SIGKILL at random moments under load, and checks that everything recorded is delivered and nothing in two versions.
 *
 *   node scripts/crash-drill.ts                        50 runs of 1,000 calls
 *   node scripts/crash-drill.ts --runs 5 --calls 200
 *   node scripts/crash-drill.ts --postgres             in a schema of its own (SIGNALBOX_TEST_POSTGRES_URL, else the usual local database)
 */
import { parseArgs } from 'node:util'
import { runCrashDrill } from '../src/testing/crash-drill.ts'
import { findTestPostgres } from '../src/testing/postgres.ts'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '50' }, calls: { type: 'string', default: '1000' }, postgres: { type: 'boolean', default: false } },
})
const postgres = values.postgres ? await findTestPostgres('the crash drill') : undefined
if (postgres?.available === false) process.exit(1)
const schema = await postgres?.createSchema()
const started = performance.now()
try {
  const { recorded, delivered, repeated, missing, contradicting } = await runCrashDrill({
    runs: Number(values.runs),
    calls: Number(values.calls),
    random: Math.random,
    ...(schema === undefined ? {} : { databaseUrl: schema.url.reveal() }),
    onRun: (run, total, arrived) => console.log(`run ${run + 1}: ${total} recorded, ${arrived} delivered so far`),
  })
  console.log(
    `${recorded} recorded, ${delivered} delivered, ${repeated} repeated, ${missing.length} missing, ${contradicting.length} contradicting, ${((performance.now() - started) / 1000).toFixed(0)} s`,
  )
  if (missing.length > 0 || contradicting.length > 0 || recorded === 0) process.exitCode = 1
} finally {
  await schema?.drop()
}
