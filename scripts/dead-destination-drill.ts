/**
 * Lets one destination fail for a while under load, and measures the effect on the other destination, the answers and the memory.
 *
 *   node scripts/dead-destination-drill.ts                      10 minutes at 200 calls a second
 *   node scripts/dead-destination-drill.ts --minutes 1 --rate 50
 *
 * Two gateways receive the same calls at the same time, one of them without destinations, and their latencies are compared. Exits with 1 if something
 * is lost, the working destination's p99 exceeds five seconds, or memory still grows at the end.
 */
import { parseArgs } from 'node:util'
import { runDeadDestinationDrill } from '../src/testing/dead-destination-drill.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, rate: { type: 'string', default: '200' } } })
const { answered, failed, delivery, missing, latency, memory, dead, revived } = await runDeadDestinationDrill({
  seconds: Number(values.minutes) * 60,
  callsPerSecond: Number(values.rate),
  onProgress: (line) => console.log(line),
})
const ratio = (name: 'p50' | 'p99'): string => (latency.delivering[name] / latency.alone[name]).toFixed(3)
console.log(`answered ${answered}, failed ${failed}`)
console.log(`living destination: p50 ${delivery.p50} ms, p99 ${delivery.p99} ms after the answer, ${missing} missing`)
console.log(`answers: p50 ${latency.delivering.p50} ms (ratio to no destination ${ratio('p50')}), p99 ${latency.delivering.p99} ms (${ratio('p99')})`)
for (const [name, { early, late, highest }] of Object.entries(memory))
  console.log(`memory, ${name}: ${early} MB in the second quarter, ${late} MB in the last, ${highest} MB at most`)
console.log(`dead destination: ${JSON.stringify(dead)}`)
console.log(`revived: ${revived.arrived} of ${answered} arrived within ${revived.seconds.toFixed(1)} s`)
const grows = memory.delivering.late > memory.delivering.early * 1.25
if (answered === 0 || missing > 0 || revived.arrived < answered || delivery.p99 > 5_000 || grows) process.exitCode = 1
