import { expect, test } from 'vitest'
import { judgeAudit } from './audit.ts'

const report = (vulnerabilities: object): string => JSON.stringify({ auditReportVersion: 2, vulnerabilities })

test.each([
  ['nothing known', report({}), 'clean'],
  ['something mild', report({ a: { severity: 'moderate', range: '<1' } }), 'clean'],
  ['something grave', report({ a: { severity: 'high', range: '<2' }, b: { severity: 'low' } }), 'found'],
  ['a registry that refuses', JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 }), 'silent'],
  ['something grave that does not ship', report({ builder: { severity: 'critical' } }), 'clean'],
  ['no answer', '', 'silent'],
])('%s', (_what, output, kind) => expect(judgeAudit(output, (name) => name !== 'builder').kind).toBe(kind))

test('serious advisories are named', () => {
  expect(judgeAudit(report({ acme: { severity: 'critical', range: '<=1.2.3' } }), () => true).message).toBe('critical: acme <=1.2.3')
})
