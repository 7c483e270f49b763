import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../core/request.ts'
import type { Provider } from '../core/provider.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { cerebras } from './cerebras.ts'
import { moonshotai } from './moonshotai.ts'
import { moonshotaiCn } from './moonshotai-cn.ts'
import { sambanova } from './sambanova.ts'
import { vllm } from './vllm.ts'

const PICTURE = 'https://example.test/a.png'
const FILM = 'https://example.test/a.mp4'

/** The media that are fetched for a vendor, and the part that it then receives. */
function media({ slug, name, options }: Provider, part: object): readonly [fetched: readonly string[], sent: unknown] {
  const request = { input: [{ type: 'message', role: 'user', content: [part] }] } as unknown as ModelRequest
  const target = {
    provider: slug,
    providerName: name,
    upstreamModel: 'm',
    options: openAiChat.options.parse(options),
    supports: new Set(openAiChat.supports),
    contextLength: 128_000,
    scope: slug,
    stream: true,
    media: new Map([
      [PICTURE, { mimeType: 'image/png', data: 'iVBO' }],
      [FILM, { mimeType: 'video/mp4', data: 'AAAA' }],
    ]),
  }
  const { messages } = JSON.parse(openAiChat.encodeRequest(request, target).body) as { messages: { content: unknown[] }[] }
  return [openAiChat.mediaUrls?.(request, target) ?? [], messages[0]?.content[0]]
}

describe('media given by URL', () => {
  it.each([moonshotai, moonshotaiCn, cerebras, sambanova])('are fetched for $slug, which reads none: pictures', (provider) => {
    expect(media(provider, { type: 'input_image', image_url: PICTURE })).toEqual([
      [PICTURE],
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
    ])
  })
  it.each([moonshotai, moonshotaiCn])('are fetched for $slug, which reads none: films', (provider) => {
    expect(media(provider, { type: 'input_video', video_url: FILM })).toEqual([
      [FILM],
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
    ])
    // A file that was uploaded to the vendor.
    expect(media(provider, { type: 'input_video', video_url: 'ms://abc' })).toEqual([[], { type: 'video_url', video_url: { url: 'ms://abc' } }])
  })
  it('are left to local servers: films, which may be larger than what is fetched', () => {
    expect(media({ ...vllm, options: { ...vllm.options, video: 'video_url' } }, { type: 'input_video', video_url: FILM })).toEqual([
      [],
      { type: 'video_url', video_url: { url: FILM } },
    ])
  })
})
