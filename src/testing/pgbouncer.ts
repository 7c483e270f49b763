import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import { Secret } from '../lib/secret.ts'
import { freePort } from './free-port.ts'

/** The test's own PgBouncer, in transaction mode: a server connection is assigned for one transaction at a time. */
export interface TestPooler {
  readonly url: Secret
  close(): Promise<void>
}

/** Few, so that clients have to share them. */
const SERVER_CONNECTIONS = 3

/**
 * In front of the schema that `target` names; `clients`: how many connections it accepts. Undefined, with a visible message, if the machine has no
 * `pgbouncer`.
 */
export async function startPooler(target: Secret, whatIsSkipped: string, clients = 100): Promise<TestPooler | undefined> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(target.reveal())
  const searchPath = /search_path=(\w+)/.exec(searchParams.get('options') ?? '')?.[1] ?? 'public'
  const database = pathname.slice(1)
  const login = `user=${decodeURIComponent(username)}${password === '' ? '' : ` password=${decodeURIComponent(password)}`}`
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-pgbouncer-'))
  const own = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    [
      '[databases]',
      `${database} = host=${hostname} port=${port === '' ? 5432 : port} dbname=${database} ${login} connect_query='set search_path to ${searchPath}'`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${own}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${SERVER_CONNECTIONS}`,
      `max_client_conn = ${clients}`,
      // It refuses to run as root.
      ...(process.getuid?.() === 0 ? ['user = nobody'] : []),
    ].join('\n'),
  )
  await Promise.all([chmod(folder, 0o755), chmod(file, 0o644)])
  const child = spawn('pgbouncer', ['-q', file], { stdio: 'ignore', env: { ...process.env, PATH: `${process.env['PATH']}${delimiter}/usr/sbin` } })
  // An aborted test run must not leave it running.
  process.once('exit', () => child.kill('SIGKILL'))
  const url = new Secret(`postgres://test@127.0.0.1:${own}/${database}`)
  const close = async (): Promise<void> => {
    await end(child)
    await rm(folder, { recursive: true, force: true })
  }
  const isThere = await once(child, 'spawn').then(
    () => true,
    () => false,
  )
  if (isThere && (await answers(url, child))) return { url, close }
  await close()
  console.warn(`\n*** SKIPPED: ${whatIsSkipped}: no pgbouncer ***\n`)
  return undefined
}

async function answers(url: Secret, child: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 50 && child.exitCode === null; tries++) {
    const client = new pg.Client({ connectionString: url.reveal(), connectionTimeoutMillis: 1_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query('select 1')
      return true
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  return false
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
