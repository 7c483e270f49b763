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
  it('are stored encrypted, and can be decrypted', () => {
    const stored = sealConfig(encryption, destination, config, SECRETS)
    expect(stored.config).toEqual({ url: 'https://example.com/' })
    expect(openDestination(encryption, sampleDestination('d1', stored)).config).toEqual(config)
  })

  describe('of a setting that was not secret when it was stored', () => {
    const before = sealConfig(encryption, destination, config, ['secretKey', 'headers.*'])
    const opened = openDestination(encryption, sampleDestination('d1', before))

    it('are used from plain text, and masked in every read', () => {
      expect(before.config).toHaveProperty('publicKey')
      expect(opened.config).toEqual(config)
      expect(maskConfig(opened.config, SECRETS)).toEqual({ url: 'https://example.com/', publicKey: 'pk-l...EfGh', secretKey: 'sk-l...AbCd' })
    })

    it('are encrypted with the next change, even if that writes back the mask', () => {
      const after = sealConfig(
        encryption,
        destination,
        mergeConfig(opened.config, { publicKey: 'pk-l...EfGh', url: 'https://new.example/' }, SECRETS),
        SECRETS,
      )
      expect(after.config).toEqual({ url: 'https://new.example/' })
      expect(openDestination(encryption, sampleDestination('d1', after)).config).toEqual({ ...config, url: 'https://new.example/' })
    })

    it('are the encrypted ones when both exist', () => {
      expect(joinSecrets({ publicKey: 'old' }, { publicKey: 'new' })).toEqual({ publicKey: 'new' })
    })
  })
})
