import { expect, it } from 'vitest'
import type { OtherItem } from '../../core/item.ts'
import { createCallerRunReader } from './caller-run.ts'

const read = (...items: OtherItem[]): unknown[] => items.map(createCallerRunReader())

it('calls of tools the caller runs become function calls, with their input', () => {
  expect(
    read(
      { type: 'local_shell_call', id: 'lsh_1', call_id: 'a', action: { type: 'exec', command: ['ls'] } },
      { type: 'shell_call', call_id: 'b', action: { commands: ['ls'] } },
      { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'x' } },
      { type: 'computer_call', call_id: 'd', actions: [{ type: 'wait' }] },
      { type: 'shell_call', call_id: 'e' },
    ),
  ).toEqual([
    { type: 'function_call', call_id: 'a', name: 'local_shell', arguments: '{"type":"exec","command":["ls"]}' },
    { type: 'function_call', call_id: 'b', name: 'shell', arguments: '{"commands":["ls"]}' },
    { type: 'function_call', call_id: 'c', name: 'apply_patch', arguments: '{"type":"delete_file","path":"x"}' },
    { type: 'function_call', call_id: 'd', name: 'computer', arguments: '[{"type":"wait"}]' },
    { type: 'function_call', call_id: 'e', name: 'shell', arguments: '{}' },
  ])
})

it.each<[string, Omit<OtherItem, 'type'>, unknown]>([
  ['words', { output: 'done' }, 'done'],
  ['no words', { output: '' }, ''],
  ['a failure', { output: 'no such file', status: 'failed' }, '{"status":"failed","output":"no such file"}'],
  ['a failure without words', { output: null, status: 'failed' }, '{"status":"failed"}'],
  ['nothing but that it is over', {}, '{"status":"completed"}'],
  ['no words of its own as a status', { status: 'as you wish' }, '{"status":"completed"}'],
  ['lists', { output: [{ stdout: 'a', stderr: '', outcome: { type: 'timeout' } }] }, '[{"stdout":"a","stderr":"","outcome":{"type":"timeout"}}]'],
  [
    'a screenshot',
    { output: { type: 'computer_screenshot', image_url: 'https://x.example/1.png' } },
    [{ type: 'input_image', image_url: 'https://x.example/1.png', detail: 'auto' }],
  ],
  ['a screenshot that is elsewhere', { output: { type: 'computer_screenshot', file_id: 'f' } }, '{"type":"computer_screenshot","file_id":"f"}'],
])('outputs contain %s', (_what, given, output) => {
  expect(read({ type: 'apply_patch_call_output', call_id: 'a', ...given })).toEqual([{ type: 'function_call_output', call_id: 'a', output }])
})

it('an output finds its call by the id of the call, of its item, or alone', () => {
  const call = { type: 'local_shell_call', id: 'lsh_1', call_id: 'a', action: {} }
  const idsOf = (...items: OtherItem[]): unknown => (read(...items) as { call_id: string }[]).at(-1)!.call_id
  expect(idsOf(call, { type: 'local_shell_call_output', id: 'lsh_1', output: '' })).toBe('a')
  expect(idsOf(call, { type: 'local_shell_call_output', id: 'a', output: '' })).toBe('a')
  expect(idsOf(call, { type: 'local_shell_call_output', id: 'own', call_id: 'a', output: '' })).toBe('a')
  expect(idsOf({ type: 'local_shell_call_output', id: 'b', output: '' })).toBe('b')
})

it('other items, and those without a call id, are not converted', () => {
  expect(
    read(
      { type: 'web_search_call', id: 'ws_1', action: { type: 'search' } },
      { type: 'of_tomorrow_call_output', call_id: 'a', output: 'x' },
      { type: '_output', call_id: 'a', output: 'x' },
      { type: 'shell_call', action: { commands: ['ls'] } },
      { type: 'shell_call_output', output: [] },
    ),
  ).toEqual([undefined, undefined, undefined, undefined, undefined])
})
