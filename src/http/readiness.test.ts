import { expect, test } from 'vitest'
import { judgeReadiness, type ReadinessFacts } from './readiness.ts'

const well: ReadinessFacts = {
  role: 'all',
  stopping: false,
  overloaded: false,
  knownKeys: 2,
  databaseAnswers: true,
  databasePrepared: true,
  databaseTakesWrites: true,
  records: true,
  recordsWaitMs: 50,
  sharedStateAnswers: undefined,
  secretKeyOutdated: false,
  configurationRefused: false,
}

test.each<[string, Partial<ReadinessFacts>, string | undefined, readonly string[]]>([
  ['all is well', {}, undefined, []],
  ['the database is away', { databaseAnswers: false }, undefined, ['database']],
  ['the database answers, and its migrations cannot be applied', { databasePrepared: false, records: false }, undefined, ['database']],
  [
    'a worker has one that is not up to date',
    { role: 'worker', databasePrepared: false },
    'the database could not be brought up to date: the log says why',
    ['database'],
  ],
  ['Redis is away, too', { databaseAnswers: false, sharedStateAnswers: false }, undefined, ['database', 'shared state']],
  ['records cannot be written, though the database is read', { recordsWaitMs: 10_001 }, undefined, ['records']],
  ['records wait for the database', { databaseAnswers: false, recordsWaitMs: 10_001 }, undefined, ['database']],
  ['secrets were rotated beside it', { secretKeyOutdated: true }, undefined, ['secret_key']],
  ['the file of its configuration is wrong', { configurationRefused: true }, undefined, ['configuration']],
  ['Redis answers', { sharedStateAnswers: true }, undefined, []],
  [
    'it starts without database and without any key',
    { databaseAnswers: false, knownKeys: 0 },
    'no API key is known, because the database has not answered yet',
    ['database'],
  ],
  ['it was started a moment ago', { records: false }, 'starting: calls cannot be recorded yet', []],
  ['it was started without its database', { records: false, databaseAnswers: false }, undefined, ['database']],
  ['a worker was started a moment ago', { role: 'worker', records: false }, 'starting: calls cannot be recorded yet', []],
  ['it is overloaded', { overloaded: true }, 'overloaded', []],
  ['it stops', { stopping: true, overloaded: true }, 'shutting down', []],
  ['a worker has its database', { role: 'worker', knownKeys: 0, overloaded: true }, undefined, []],
  ['a worker has lost it', { role: 'worker', databaseAnswers: false }, 'the database does not answer', ['database']],
  ['a worker has one that is only read', { role: 'worker', databaseTakesWrites: false }, 'the database takes no writes', []],
  ['a worker has lost Redis', { role: 'worker', sharedStateAnswers: false }, undefined, ['shared state']],
])('when %s', (_when, facts, reason, degraded) => {
  expect(judgeReadiness({ ...well, ...facts })).toEqual(reason === undefined ? { degraded } : { reason, degraded })
})
