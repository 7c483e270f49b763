import { expect, it } from 'vitest'
import { closest } from './closest.ts'

it('finds the word that was meant, in any case, and none where none is near', () => {
  const known = ['server', 'builtin_tools', 'id']
  expect(['sever', 'builtinTools', 'SERVER', 'ip', 'storage', ''].map((word) => closest(word, known))).toEqual([
    'server',
    'builtin_tools',
    'server',
    'id',
    undefined,
    undefined,
  ])
  expect(closest('x', [])).toBeUndefined()
})
