import { sql, type RawBuilder } from 'kysely'
import type { Engine } from './database.ts'

/** The right side of `in`: any number of ids as one bound value, so that the statement is the same for all lengths. */
export function numberList(engine: Engine, ids: readonly number[]): RawBuilder<number> {
  return engine === 'sqlite' ? sql`(select value from json_each(${JSON.stringify(ids)}))` : sql`(select unnest(${ids}::bigint[]))`
}

export function textList(engine: Engine, ids: readonly string[]): RawBuilder<string> {
  return engine === 'sqlite' ? sql`(select value from json_each(${JSON.stringify(ids)}))` : sql`(select unnest(${ids}::text[]))`
}
