import { availableParallelism } from 'node:os'
import type { Config } from '../core/config.ts'

/** How many processes the configuration asks for. */
export const workersOf = ({ server }: Pick<Config, 'server'>): number => (server.workers === 'auto' ? availableParallelism() : server.workers)
