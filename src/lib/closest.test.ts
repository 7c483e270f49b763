import { expect, it } from 'vitest'
import { closest, insteadOf } from './closest.ts'

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

it('takes two letters in the wrong order for one slip, however short the word', () => {
  const known = ['host', 'port', 'role', 'data_dir']
  expect(['prot', 'hots', 'orle', 'daat_dir', 'dtaa_idr', 'trop'].map((word) => closest(word, known))).toEqual([
    'port',
    'host',
    'role',
    'data_dir',
    'data_dir',
    undefined,
  ])
})

it('says what would be right', () => {
  expect(insteadOf('sever', ['server', 'id'])).toBe('did you mean server? (known: server, id)')
  expect(insteadOf('x-y-z', ['server', 'id'])).toBe('expected one of: server, id')
})
