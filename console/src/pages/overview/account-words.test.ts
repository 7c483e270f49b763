import { expect, test } from 'vitest'
import { creditsShown, deliveryShown, failedShown, keysShown, type Delivery } from './account-words.ts'

test.each([
  [1_000_000_000, 12.5, { value: 'No limit', about: '$12.50 spent' }],
  [100, 25, { value: '$75.00 left', about: 'of $100.00', share: 0.25 }],
  [100, 130, { value: '$0 left', about: 'of $100.00', share: 1 }],
  [0, 0, { value: '$0 left', about: 'of $0', share: 1 }],
])('credits of %s with %s spent', (total_credits, total_usage, words) => {
  expect(creditsShown({ total_credits, total_usage })).toEqual(words)
})

test.each([
  [[], false, { value: 'None' }],
  [[false, false], false, { value: '2' }],
  [[false, true], false, { value: '2', about: '1 off' }],
  [[false], true, { value: '1 or more' }],
])('keys %# are counted, including disabled ones', (off, isPart, words) => {
  expect(keysShown({ found: off.map((disabled) => ({ disabled })), isPart })).toEqual(words)
})

const fine = { paused: false, breaker: 'closed', dead: 0 }
const on = (status = fine): Delivery => ({ enabled: true, status })
test.each<[readonly Delivery[], object]>([
  [[], { value: 'None' }],
  [[on()], { value: '1' }],
  [[on(), on({ ...fine, paused: true }), { enabled: false }], { value: '3', about: '1 paused, 1 off' }],
  [[on({ ...fine, dead: 1 })], { value: '1', about: '1 record not delivered', isTrouble: true }],
  [[on(), on({ ...fine, breaker: 'open', dead: 9 })], { value: '2', about: '1 failing', isTrouble: true }],
])('destinations %# are summed up by what needs attention first', (found, words) => {
  expect(deliveryShown({ found, isPart: false })).toEqual(words)
})

test.each([
  [0, false, 'None'],
  [1_200, false, '1,200'],
  [3, true, '3 or more'],
])('%i failed calls, possibly a partial count: %s', (found, isPart, value) => {
  expect(failedShown({ count: found, isPart })).toEqual({ value, about: 'in 24 hours' })
})
