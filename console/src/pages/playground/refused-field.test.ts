import { expect, it } from 'vitest'
import { refusedField } from './refused-field.ts'
import { startRun } from './run.ts'

const refused = (path: string) => refusedField({ ...startRun(0), phase: 'refused', failure: { message: 'No.', path } })

it('an error is shown at the field it names, or at none', () => {
  expect(refused('tools.0.type')).toEqual({ tools: 'No.' })
  expect(refused('reasoning.effort')).toEqual({ effort: 'No.' })
  expect([refused('input'), refused(''), refusedField({ ...startRun(0), phase: 'failed', failure: { message: 'No.', path: 'tools' } })]).toEqual([
    {},
    {},
    {},
  ])
})
