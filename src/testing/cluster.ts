import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetwork, type Network } from './network.ts'
import type { Secret } from '../lib/secret.ts'
import { startGatewayProcess, type GatewayProcess } from './processes.ts'

export type Role = 'gateway' | 'worker'

/** One slot of a cluster: the process that currently runs in it, with its own networks to database and Redis. */
export interface Place {
  readonly role: Role
  readonly name: string
  readonly database: Network
  readonly redis: Network
  /** Undefined between the end of one process and the start of the next. */
  process: GatewayProcess | undefined
  /** When processes in this slot were killed, in milliseconds of `performance.now()`. */
  readonly killedAt: number[]
  /** The output of all processes of this slot. */
  readonly outputs: string[]
}

export interface ClusterOptions {
  readonly databaseUrl: Secret
  readonly redisUrl: Secret
  readonly places: readonly { readonly role: Role; readonly name: string }[]
  /** The configuration tree of every process. */
  readonly config: object
}

/** Real processes on one database and one Redis, each behind networks that can fail for it alone. */
export interface Cluster {
  readonly places: readonly Place[]
  start(place: Place): Promise<void>
  end(place: Place, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
  close(): Promise<void>
}

const SECRET_KEY = Buffer.alloc(32, 9).toString('base64')

export async function createCluster({ databaseUrl, redisUrl, places: wanted, config }: ClusterOptions): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-cluster-'))
  const places: Place[] = await Promise.all(
    wanted.map(async ({ role, name }) => {
      await mkdir(join(directory, name))
      await writeFile(join(directory, name, 'signalbox.json'), JSON.stringify(config))
      const [database, redis] = await Promise.all([createNetwork(databaseUrl), createNetwork(redisUrl)])
      return { role, name, database, redis, process: undefined, killedAt: [], outputs: [] }
    }),
  )
  const end: Cluster['end'] = async (place, signal) => {
    const { process } = place
    if (process === undefined) return null
    place.process = undefined
    if (signal === 'SIGKILL') place.killedAt.push(performance.now())
    const code = await process.end(signal)
    place.outputs.push(process.output())
    return code
  }
  return {
    places,
    async start(place) {
      place.process = await startGatewayProcess({
        directory: join(directory, place.name),
        args: ['--role', place.role],
        env: {
          SIGNALBOX_DATABASE_URL: place.database.url.reveal(),
          SIGNALBOX_REDIS_URL: place.redis.url.reveal(),
          SIGNALBOX_SECRET_KEY: SECRET_KEY,
        },
      })
    },
    end,
    async close() {
      await Promise.all(places.map((place) => end(place, 'SIGKILL')))
      await Promise.all(places.flatMap(({ database, redis }) => [database.close(), redis.close()]))
      await rm(directory, { recursive: true, force: true })
    },
  }
}
