import { expect, it } from 'vitest'
import { shownPicture } from './shown-picture.ts'

it.each(['image_generation_call', 'gateway:image_generation', 'openrouter:image_generation'])('%s has its image', (type) => {
  expect(shownPicture({ type, result: 'AA' })).toEqual({ data: 'AA', mediaType: 'image/png' })
  expect(shownPicture({ type, result: 'AA', output_format: 'webp' })).toEqual({ data: 'AA', mediaType: 'image/webp' })
  expect(shownPicture({ type, result: 'data:image/jpeg;base64,AA' })).toEqual({ data: 'AA', mediaType: 'image/jpeg' })
  expect(shownPicture({ type, result: 'data:image/svg+xml,<svg/>' })).toEqual({ url: 'data:image/svg+xml,<svg/>' })
  expect(shownPicture({ type, result: 'https://a.example/p.png' })).toEqual({ url: 'https://a.example/p.png' })
})

it('there is no image where none was made, and in no other item', () => {
  expect(shownPicture({ type: 'gateway:image_generation', result: '' })).toBeUndefined()
  expect(shownPicture({ type: 'gateway:image_generation', error: 'refused' })).toBeUndefined()
  expect(shownPicture({ type: 'gateway:files', result: 'AA' })).toBeUndefined()
})
