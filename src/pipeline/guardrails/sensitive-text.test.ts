import { describe, expect, it } from 'vitest'
import type { BuiltinFilter } from '../../core/guardrail.ts'
import { SENSITIVE_KINDS } from './sensitive-text.ts'

const found = (slug: BuiltinFilter, text: string): string[] =>
  Array.from(SENSITIVE_KINDS[slug]!.find(text), (span) => text.slice(span!.start, span!.end))

describe.each<[BuiltinFilter, readonly (readonly [text: string, found: string])[], readonly string[]]>([
  [
    'email',
    [
      ['write to user@example.com.', 'user@example.com'],
      ['<name+tag@domain.co>', 'name+tag@domain.co'],
      ['an jürgen@example.de', 'jürgen@example.de'],
      ['an info@exämple.de.', 'info@exämple.de'],
      ['пишите на почта@пример.рф!', 'почта@пример.рф'],
      ['user@xn--e1afmkfd.xn--p1ai', 'user@xn--e1afmkfd.xn--p1ai'],
      ['邮箱是user@example.com，谢谢', 'user@example.com'],
      ['邮箱user@example.com谢谢', 'user@example.com'],
      ['user@例え.jp', 'user@例え.jp'],
      ['user@例子.公司', 'user@例子.公司'],
      ["O'Neil: o'neil@mail.example.co.uk!", "o'neil@mail.example.co.uk"],
    ],
    ['@here please', 'user@localhost', 'price @ 5.00', 'a@b'],
  ],
  [
    'phone',
    [
      ['call 914-309-4996 now', '914-309-4996'],
      ['914.309.4996', '914.309.4996'],
      ['9143094996', '9143094996'],
      ['(914) 309-4996', '(914) 309-4996'],
      ['(914)-309-4996', '(914)-309-4996'],
      ['+1 (914)-309-4996', '+1 (914)-309-4996'],
      ['+1 914 309 4996', '+1 914 309 4996'],
      ['+49 (0)30 / 90 18 20', '+49 (0)30 / 90 18 20'],
      ['+49 30/901820', '+49 30/901820'],
      ['Tel. +49 30 901820', '+49 30 901820'],
      ['914-309-4996x12', '914-309-4996'],
      ['Tel.914-309-4996', '914-309-4996'],
      ['+44 (0)20 7946 0958', '+44 (0)20 7946 0958'],
    ],
    ['at 1700000000 seconds', 'order 12345678901234', 'v1.2.3', '2024-01-31', '555', '+5 points'],
  ],
  [
    'ssn',
    [
      ['ssn 123-45-6789', '123-45-6789'],
      ['123 45 6789', '123 45 6789'],
      ['SSN-123-45-6789-', '123-45-6789'],
    ],
    ['000-12-3456', '666-12-3456', '912-12-3456', '123-00-4567', '123-45-0000', '1123-45-6789', '123-45-67890', '123-45 6789'],
  ],
  [
    'credit-card',
    [
      ['4111 1111 1111 1111', '4111 1111 1111 1111'],
      ['pay 4242-4242-4242-4242!', '4242-4242-4242-4242'],
      ['378282246310005', '378282246310005'],
      ['card 4111 1111 1111 1111 12/27 123', '4111 1111 1111 1111'],
      ['4111111111111111 12/27', '4111111111111111'],
      ['4111-1111-1111-1111 123', '4111-1111-1111-1111'],
      ['2 x 4111 1111 1111 1111', '4111 1111 1111 1111'],
      ['2024 4111 1111 1111 1111', '4111 1111 1111 1111'],
      ['amex 3782 822463 10005 1226', '3782 822463 10005'],
      ['4111.1111.1111.1111', '4111.1111.1111.1111'],
      ['4111\t1111\t1111\t1111', '4111\t1111\t1111\t1111'],
    ],
    ['4111 1111 1111 1112', '4111 1111 1111 1112 123', '4111\n1111\n1111\n1111', '1700000000000', '42424242424242420000000', '4242 4242'],
  ],
  [
    'ip-address',
    [
      ['ping 192.168.0.1.', '192.168.0.1'],
      ['http://10.0.0.1:8080/', '10.0.0.1'],
      ['from fe80::1ff:fe23:4567:890a', 'fe80::1ff:fe23:4567:890a'],
      ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
      ['Host.192.168.0.1', '192.168.0.1'],
      ['2001:db8::1: refused', '2001:db8::1'],
      ['peer:2001:db8::1', '2001:db8::1'],
      ['added:2001:db8::1', '2001:db8::1'],
      ['[2001:db8:0:0:0:0:0:1]:443', '2001:db8:0:0:0:0:0:1'],
      ['2001:db8:0:0:0:0:0:1:443', '2001:db8:0:0:0:0:0:1'],
      ['via fe80::', 'fe80::'],
    ],
    [
      '1.2.3',
      '256.1.1.1',
      '1.2.3.4.5',
      'at 10:30:45',
      'std::vector',
      'std::abc::def',
      'a :: b',
      '00:1a:2b:3c:4d:5e',
      'aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd',
    ],
  ],
])('%s', (slug, hits, misses) => {
  it.each(hits)('is in %j', (text, expected) => {
    expect(found(slug, text)).toContain(expected)
  })
  it.each(misses)('is not in %j', (text) => {
    expect(found(slug, text)).toEqual([])
  })
})

it('no search is stalled by a text made for it', () => {
  // With work that grows by the square, any of these would outlast the test's time many times over.
  const texts = [
    'a'.repeat(1_000_000),
    `${'a'.repeat(500_000)}@`,
    'a@'.repeat(300_000),
    '1'.repeat(1_000_000),
    '4 '.repeat(500_000),
    '4111 '.repeat(200_000),
    ':'.repeat(1_000_000),
    'a:'.repeat(500_000),
    'ab::'.repeat(250_000),
    '1.'.repeat(500_000),
    '+1'.repeat(300_000),
  ]
  for (const { find } of Object.values(SENSITIVE_KINDS)) for (const text of texts) expect(Array.isArray(find(text))).toBe(true)
})
