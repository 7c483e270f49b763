import { expect, it } from 'vitest'
import { reasonOf } from './reason.ts'

it.each([
  'SELF_SIGNED_CERT_IN_CHAIN: self-signed certificate in certificate chain',
  'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
  'unable to verify the first certificate',
  'unable to get local issuer certificate',
])('explains for "%s" how to configure a certificate authority', (message) => {
  const reason = reasonOf(new Error('it does not answer', { cause: new Error(message) }))
  expect(reason).toMatch(/certificate.*: an authority of your own is named by NODE_EXTRA_CA_CERTS=/)
  expect(reason).not.toContain('--use-system-ca')
})

it('leaves other reasons as they are, without credentials', () => {
  expect(reasonOf(new Error('connect to postgres://me:canary@host failed'))).toBe('connect to postgres://[hidden]host failed')
})
