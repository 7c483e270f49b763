import { describe, expect, it } from 'vitest'
import { checkTable, matchColumns } from './warehouse-row.ts'

describe('the table of a warehouse', () => {
  it('needs the two ids a row is recognised by', () => {
    expect(checkTable(matchColumns(['TRACE_ID', 'SPAN_ID']))).toBeUndefined()
    for (const names of [['TRACE_ID'], ['SPAN_ID'], ['MODEL']]) expect(checkTable(matchColumns(names))).toBe('the table lacks TRACE_ID or SPAN_ID')
    for (const columns of [undefined, matchColumns(['other'])]) expect(checkTable(columns)).toMatch(/does not exist/)
  })

  it('may spell its columns in lower case; where both spellings exist, ours is meant', () => {
    expect(matchColumns(['trace_id']).get('TRACE_ID')).toBe('trace_id')
    expect(matchColumns(['trace_id', 'TRACE_ID']).get('TRACE_ID')).toBe('TRACE_ID')
  })
})
