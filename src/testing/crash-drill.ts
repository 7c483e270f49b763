import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startGatewayProcess, type GatewayProcess } from './processes.ts'
import { startSpanLedger, type SpanLedger } from './span-ledger.ts'

export interface CrashDrillOptions {
  readonly runs: number
  /** Calls per run; the process is killed after any number of them. */
  readonly calls: number
  readonly random: () => number
  /** A PostgreSQL URL with a schema of its own; default: SQLite. */
  readonly databaseUrl?: string
  readonly onRun?: (run: number, recorded: number, delivered: number) => void
}

export interface CrashDrillReport {
  /** Generations found in the database at the end. */
  readonly recorded: number
  readonly delivered: number
  readonly repeated: number
  readonly missing: readonly string[]
  readonly contradicting: readonly string[]
}

const PARALLEL = 32
const DRAIN_LIMIT_MS = 120_000
const READY_LIMIT_MS = 30_000
const RECORD_LIMIT_MS = 30_000
/** Long enough for the process to die at any point between an answer and the write, lease, request or settlement that follow it. */
const KILL_WITHIN_MS = 120

/** Makes calls until there are enough; a call whose gateway died counts, too, and is the last. */
function makeCalls(gateway: GatewayProcess, count: number) {
  let left = count
  const load = { answered: 0, done: false, all: Promise.resolve() }
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      try {
        const { status } = await gateway.api('POST', 'responses', { model: 'demo/echo', input: `call ${left} `.repeat(20) })
        if (status === 200) load.answered++
      } catch {
        left = 0
      }
    }
  }
  load.all = Promise.all(Array.from({ length: PARALLEL }, caller)).then(() => void (load.done = true))
  return load
}

/** Before it is ready, a gateway serves but cannot record yet: if killed then, it would leave nothing to check. */
async function untilReady({ url, output }: GatewayProcess): Promise<void> {
  const until = Date.now() + READY_LIMIT_MS
  while (!(await fetch(`${url}/readyz`)).ok) {
    if (Date.now() > until) throw new Error(`the gateway did not become ready: ${output().slice(-2_000)}`)
    await sleep(10)
  }
}

interface Doom {
  readonly load: { readonly answered: number; readonly done: boolean }
  readonly calls: number
  readonly random: () => number
  /** Whether this run has recorded anything: otherwise there would be nothing to check. */
  readonly hasRecorded: () => Promise<boolean>
}

/** Waits for the moment of the kill: after a random number of answers and the first record, and a little longer. */
async function untilDoomed({ load, calls, random, hasRecorded }: Doom): Promise<void> {
  const answers = Math.floor(random() * calls)
  while (load.answered < answers && !load.done) await sleep(1)
  const until = Date.now() + RECORD_LIMIT_MS
  while (!(await hasRecorded())) {
    if (Date.now() > until) throw new Error(`nothing was recorded within ${RECORD_LIMIT_MS} ms of ${load.answered} answers`)
    await sleep(1)
  }
  await sleep(random() * KILL_WITHIN_MS)
}

async function untilDrained(gateway: GatewayProcess, id: string): Promise<void> {
  const until = Date.now() + DRAIN_LIMIT_MS
  while (Date.now() < until) {
    const { body } = await gateway.api('GET', `observability/destinations/${id}/status`)
    if ((body as { data?: { queued: number } } | undefined)?.data?.queued === 0) return
    await sleep(100)
  }
}

/** Kills a real gateway with SIGKILL at random moments under load, restarts it, and compares what was recorded with what arrived. */
export async function runCrashDrill({ runs, calls, random, databaseUrl, onRun }: CrashDrillOptions): Promise<CrashDrillReport> {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-crash-'))
  const environment: { readonly [name: string]: string } =
    databaseUrl === undefined ? {} : { SIGNALBOX_DATABASE_URL: databaseUrl, SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 5).toString('base64') }
  const start = async (): Promise<GatewayProcess> => {
    gateway = await startGatewayProcess({ directory, env: environment })
    await untilReady(gateway)
    return gateway
  }
  const recorded = (): Promise<readonly string[]> => recordedIds(directory, databaseUrl)
  const ledger = await startSpanLedger()
  let gateway: GatewayProcess | undefined
  try {
    gateway = await start()
    const id = await addWebhook(gateway, ledger)
    for (let run = 0; run < runs; run++) {
      const before = (await recorded()).length
      const load = makeCalls(gateway, calls)
      await untilDoomed({ load, calls, random, hasRecorded: async () => (await recorded()).length > before })
      await gateway.end('SIGKILL')
      await load.all
      gateway = await start()
      onRun?.(run, (await recorded()).length, ledger.arrivals.size)
    }
    await untilDrained(gateway, id)
    await gateway.end('SIGTERM')
    const ids = await recorded()
    return {
      recorded: ids.length,
      delivered: ledger.arrivals.size,
      repeated: ledger.repeated,
      missing: ids.filter((each) => !ledger.arrivals.has(each)),
      contradicting: [...ledger.contradicting],
    }
  } finally {
    await gateway?.end('SIGKILL')
    await ledger.close()
    await rm(directory, { recursive: true, force: true })
  }
}

async function addWebhook(gateway: GatewayProcess, ledger: SpanLedger): Promise<string> {
  const { status, body } = await gateway.api('POST', 'observability/destinations', {
    type: 'webhook',
    name: 'drill',
    config: { url: `${ledger.url}/hook` },
  })
  if (status !== 201) throw new Error(`the destination was not created: ${status} ${JSON.stringify(body)}`)
  return (body as { data: { id: string } }).data.id
}

async function recordedIds(directory: string, databaseUrl: string | undefined): Promise<readonly string[]> {
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(directory, 'signalbox.db'), { readOnly: true })
    const rows = database.prepare('select id from generations').all()
    database.close()
    return rows.map((row) => String(row['id']))
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ readonly id: string }>('select id from generations')
    return rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}
