import { initial } from './0001-initial.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [initial]
