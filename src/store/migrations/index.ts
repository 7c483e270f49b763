import { initial } from './0001-initial.ts'
import { destinations } from './0002-destinations.ts'
import { accounting } from './0003-accounting.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [initial, destinations, accounting]
