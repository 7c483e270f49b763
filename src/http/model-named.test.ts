import { describe, expect, it } from 'vitest'
import type { Read } from '../doors/shared/door.ts'
import { modelNamed } from './model-named.ts'

const fold = (): never => {
  throw new Error('nothing is answered here')
}
const translated = (body: object): Read => ({ body, fold })
const requested = (request: object): Read => ({ request, fold }) as Read

describe('the model a caller named', () => {
  it.each<readonly [string, Read, string | undefined]>([
    ['in a body', translated({ model: 'a/b', models: ['c/d'] }), 'a/b'],
    ['in a body, as the first of several', translated({ models: ['c/d', 'e/f'] }), 'c/d'],
    ['nowhere', translated({ models: null }), undefined],
    ['in an address that wins over the body', requested({ model: 'a/b', input: [] }), 'a/b'],
    ['nowhere in a request that Responses cannot express', requested({ input: [] }), undefined],
  ])('%s', (_name, read, model) => {
    expect(modelNamed(read)).toBe(model)
  })
})
