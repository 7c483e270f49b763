import { describe, expect, it } from 'vitest'
import { modelPath } from '../embeddings/model-path.ts'
import { modelSegment, modelSegments } from './model-segment.ts'

describe('the id of a model in a path', () => {
  it('is one segment', () => {
    expect(modelSegment('a/b c:1?x#y')).toBe('a%2Fb%20c%3A1%3Fx%23y')
    expect(modelPath('/model/{model}/invoke', 'claude@1')).toBe('/model/claude@1/invoke')
  })

  it('or several, if the vendor has folders', () => expect(modelSegments('tuned/a b')).toBe('tuned/a%20b'))

  it.each(['..', '.', 'models/..', 'x/../../admin', './x', 'x\\\\..\\\\admin'])('never leads to another folder of the server: %s', (name) => {
    expect(() => modelSegments(name)).toThrow(expect.objectContaining({ errorType: 'not_found' }))
    expect(() => modelPath('/model/{model}/invoke', name)).toThrow('no model')
  })

  it('may have dots otherwise', () => expect(modelSegments('v1..2/.x/x.')).toBe('v1..2/.x/x.'))
})
