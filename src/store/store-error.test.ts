import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { toStoreError } from './store-error.ts'

/** What a database that may not grow says. */
function fullDatabase(): unknown {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec('create table t (x); pragma max_page_count = 2')
    database.exec('insert into t values (zeroblob(100000))')
    return undefined
  } catch (error) {
    return error
  } finally {
    database.close()
  }
}

it.each([
  ['SQLite without room', fullDatabase(), /^The disk of the database is full, .* has to make room$/],
  ['PostgreSQL without room', { code: '53100' }, /^The disk of the database is full, .* has to make room$/],
  ['a file system without room', { code: 'ENOSPC' }, /^The disk of the database is full, .* has to make room$/],
  ['SQLite that is read-only', { errcode: 1032 }, /^The database takes no writes .* has to look at it$/],
  ['PostgreSQL that is read-only', { code: '25006' }, /^The database takes no writes .* has to look at it$/],
  ['SQLite that is damaged', { errcode: 11 }, /^The database is damaged .* restore it from a backup$/],
  ['PostgreSQL that is damaged', { code: 'XX001' }, /^The database is damaged .* restore it from a backup$/],
  ['PostgreSQL without a table', { code: '42P01' }, /^The database lacks a table or column .* has to run signalbox migrate$/],
  ['PostgreSQL without a column', { code: '42703' }, /^The database lacks a table or column .* has to run signalbox migrate$/],
  [
    'PostgreSQL without connections',
    { code: '53300' },
    /^The database has no room for another connection.* max_connections or the limit of the role or of the pooler$/,
  ],
  [
    'a pooler without connections',
    { code: '08P01', message: 'no more connections allowed (max_client_conn)' },
    /^The database has no room for another connection.* max_connections or the limit of the role or of the pooler$/,
  ],
  ['one that does not answer', { code: 'ECONNREFUSED' }, /^The database cannot be used at the moment; try again$/],
])('the error of %s says what is missing, and may pass', (_name, error, message) => {
  expect(toStoreError(error)).toMatchObject({ errorType: 'provider_overloaded', status: 503, message: expect.stringMatching(message) })
})
