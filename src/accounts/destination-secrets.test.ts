import { describe, expect, it } from 'vitest'
import { joinSecrets, maskConfig, mergeConfig } from '../core/destination-config.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { openDestination, sealConfig } from './destination-secrets.ts'
import { createEncryption } from './encryption.ts'

const encryption = createEncryption({ current: Buffer.alloc(32, 1) })
const destination = { id: 'd1', type: 'webhook' }
const config = { url: 'https://example.com/', publicKey: 'pk-lf-0123456789AbEfGh', secretKey: 'sk-lf-0123456789xyAbCd' }
const SECRETS = ['secretKey', 'publicKey', 'headers.*']

describe('secrets of a stored destination', () => {
  it('lie in the envelope, and come back from it', () => {
    const stored = sealConfig(encryption, destination, config, SECRETS)
    expect(stored.config).toEqual({ url: 'https://example.com/' })
    expect(openDestination(encryption, sampleDestination('d1', stored)).config).toEqual(config)
  })

  describe('of a setting that has become a secret since', () => {
    const before = sealConfig(encryption, destination, config, ['secretKey', 'headers.*'])
    const opened = openDestination(encryption, sampleDestination('d1', before))

    it('are used as they lie there, in the open, and masked in every read', () => {
      expect(before.config).toHaveProperty('publicKey')
      expect(opened.config).toEqual(config)
      expect(maskConfig(opened.config, SECRETS)).toEqual({ url: 'https://example.com/', publicKey: 'pk-l...EfGh', secretKey: 'sk-l...AbCd' })
    })

    it('move into the envelope with the next change, the mask written back included', () => {
      const after = sealConfig(
        encryption,
        destination,
        mergeConfig(opened.config, { publicKey: 'pk-l...EfGh', url: 'https://new.example/' }, SECRETS),
        SECRETS,
      )
      expect(after.config).toEqual({ url: 'https://new.example/' })
      expect(openDestination(encryption, sampleDestination('d1', after)).config).toEqual({ ...config, url: 'https://new.example/' })
    })

    it('are those of the envelope when both are there', () => {
      expect(joinSecrets({ publicKey: 'old' }, { publicKey: 'new' })).toEqual({ publicKey: 'new' })
    })
  })
})
