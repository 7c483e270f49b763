import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

const DECOMPRESSORS: { readonly [encoding: string]: (() => Transform) | undefined } = {
  __proto__: null as never,
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** The decompressor for an answer: `none` if it is not compressed, undefined if it cannot be decompressed (several encodings, or an unknown one). */
export function decompressor(header: string | string[]): Transform | 'none' | undefined {
  const encodings = String(header)
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity')
  if (encodings.length === 0) return 'none'
  return encodings.length === 1 ? DECOMPRESSORS[encodings[0]!]?.() : undefined
}
