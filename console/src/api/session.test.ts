import { afterEach, expect, it } from 'vitest'
import { keepInferenceKey, storedInferenceKey } from './inference-key.ts'
import { forgetKey, keepKey, keyOfFragment, signOutLine, storedKey, type SignOutLine } from './session.ts'

const opened: SignOutLine[] = []
afterEach(() => {
  for (const line of opened.splice(0)) line.close()
})

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

it('removing a key that is no longer accepted removes no other', () => {
  const one = stores()
  keepKey(one, 'sk-kept', true)
  keepKey(one, 'sk-of-a-link', false)
  forgetKey(one, 'sk-of-a-link')
  expect(storedKey(one)).toBe('sk-kept')
  forgetKey(one, 'sk-kept')
  expect(storedKey(one)).toBeUndefined()
})

it('signing out notifies every other tab, and not the one that signs out', async () => {
  const heard: string[] = []
  await new Promise<void>((resolve) => {
    const [here, there, elsewhere] = ['here', 'there', 'elsewhere'].map((name) =>
      signOutLine(() => {
        heard.push(name)
        if (heard.length === 2) resolve()
      }),
    )
    here!.tell()
    opened.push(here!, there!, elsewhere!)
  })
  expect(heard.toSorted()).toEqual(['elsewhere', 'there'])
})

it('the key of a sign-in link is read from its fragment', () => {
  expect(keyOfFragment('#key=sk-sb-mgmt-v1-abc')).toBe('sk-sb-mgmt-v1-abc')
  expect([keyOfFragment(''), keyOfFragment('#'), keyOfFragment('#key='), keyOfFragment('#other=1')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
