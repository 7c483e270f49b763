import { expect, it } from 'vitest'
import { keepInferenceKey, storedInferenceKey } from './inference-key.ts'
import { forgetKey, keepKey, keyOfFragment, storedKey } from './session.ts'

function stores() {
  const store = (): Storage => {
    const kept = new Map<string, string>()
    return {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name),
    } as Storage
  }
  return { tab: store(), browser: store() }
}

it('a key is kept for the tab, and for the browser only if its user says so', () => {
  const one = stores()
  keepKey(one, 'sk-1', false)
  expect([storedKey(one), storedKey({ ...one, tab: stores().tab })]).toEqual(['sk-1', undefined])
  keepKey(one, 'sk-2', true)
  expect(storedKey({ ...one, tab: stores().tab })).toBe('sk-2')
  forgetKey(one)
  expect(storedKey(one)).toBeUndefined()
})

it('signing out forgets the key that calls models, too', () => {
  const one = stores()
  keepInferenceKey(one.tab, 'sk-sb-v1-1')
  expect(storedInferenceKey(one.tab)).toBe('sk-sb-v1-1')
  forgetKey(one)
  expect(storedInferenceKey(one.tab)).toBeUndefined()
})

it('a link carries a key in its fragment', () => {
  expect(keyOfFragment('#key=sk-sb-mgmt-v1-abc')).toBe('sk-sb-mgmt-v1-abc')
  expect([keyOfFragment(''), keyOfFragment('#'), keyOfFragment('#key='), keyOfFragment('#other=1')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
