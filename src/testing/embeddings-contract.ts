import { describe, expect, it } from 'vitest'
import type { Dialect, Target } from '../core/dialect.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent, Vector } from '../core/event.ts'
import type { InputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

type Json = { readonly [field: string]: unknown }

/** A second, independent description of a format for embeddings. */
export interface EmbeddingsVoice {
  readonly model: string
  readonly options: object
  /** The texts that a body requests vectors for, in order. */
  readonly textsOf: (body: Json) => readonly unknown[]
  readonly dimensionsOf: (body: Json) => unknown
  /** An answer with these vectors, at most one if the format takes one input at a time; without a token count if `tokens` is undefined. */
  readonly answer: (vectors: readonly unknown[], tokens: number | undefined) => Json
}

export const saying = (content: string): InputItem => ({ type: 'message', role: 'user', content })
export const asking = (more: Json, ...texts: readonly string[]): ModelRequest => ({
  model: 'acme/embed',
  modalities: ['embeddings'],
  input: texts.map(saying),
  ...more,
})

export function targetOf<O>(dialect: Dialect<O>, { model, options }: Pick<EmbeddingsVoice, 'model' | 'options'>): Target<O> {
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: model,
    options: dialect.options.parse(options),
    supports: new Set(),
    contextLength: 8_192,
    scope: 'acme',
    stream: true,
  }
}

/** What every format for embeddings must do. */
export function describeEmbeddingsContract(dialect: Dialect, voice: EmbeddingsVoice): void {
  const target = targetOf(dialect, voice)
  // Formats that take one input at a time get a request for each.
  const atATime = dialect.batch?.({ options: target.options, upstreamModel: target.upstreamModel }).inputs ?? Infinity
  const single = atATime === 1
  const encode = (request: ModelRequest): Json => JSON.parse(dialect.encodeRequest(request, target).body) as Json
  const decode = (text: string, texts: readonly string[] = ['a', 'b'].slice(0, atATime)): readonly ModelEvent[] => {
    const decoder = dialect.decoder(asking({}, ...texts), target)
    const out: ModelEvent[] = []
    decoder.body(text, out)
    decoder.end(out)
    expect(decoder.finished).toBe(true)
    return out
  }
  const answered = (vectors: readonly unknown[], tokens?: number) => decode(JSON.stringify(voice.answer(vectors, tokens)))
  const failing = (action: () => unknown): GatewayError => {
    try {
      action()
    } catch (error) {
      if (error instanceof GatewayError) return error
      throw error
    }
    throw new Error('nothing was thrown')
  }

  describe('requests', () => {
    it('are for vectors of each text, in their order, at the model of the endpoint', () => {
      const texts = ['one', 'two "words"', 'drei 🎉']
      for (const asked of single ? texts.map((text) => [text]) : [texts]) {
        const { method, path, body } = dialect.encodeRequest(asking({}, ...asked), target)
        expect(method).toBe('POST')
        expect(`${path} ${body}`).toContain(voice.model)
        expect(voice.textsOf(JSON.parse(body) as Json)).toEqual(asked)
      }
    })

    it('ask for JSON in one piece', () => {
      expect(dialect.encodeRequest(asking({}, 'a'), target).headers).toMatchObject({ accept: 'application/json' })
    })

    it('name the number of dimensions where the caller does', () => {
      expect(voice.dimensionsOf(encode(asking({ dimensions: 256 }, 'a')))).toBe(256)
      expect(voice.dimensionsOf(encode(asking({}, 'a')))).toBeUndefined()
    })

    it('contain no fields that control the gateway', () => {
      const steering = { provider: { order: ['acme'] }, session_id: 's-1', trace: { trace_name: 't-1' }, metadata: { team: 'm-1' }, debug: {} }
      const { body } = dialect.encodeRequest(asking(steering, 'a'), target)
      expect(body).not.toMatch(/s-1|t-1|m-1|order|modalities|debug/)
    })

    it('leave the request as it was', () => {
      const request = asking({ dimensions: 8, input_type: 'search_query', encoding_format: 'base64' }, ...['a', 'b'].slice(0, atATime))
      const before = structuredClone(request)
      dialect.encodeRequest(request, target)
      expect(request).toEqual(before)
    })
  })

  describe('answers', () => {
    const vectors: readonly Vector[] = [
      [0.5, -1],
      [1e-9, 2],
    ].slice(0, atATime)

    it('are a vector for each input, with the tokens that were counted', () => {
      expect(answered(vectors, 7).at(-1)).toMatchObject({ type: 'response-end', reason: 'stop', vectors, usage: { inputTokens: 7, outputTokens: 0 } })
    })

    it('without a count have none, to be estimated', () => {
      expect(answered(vectors).at(-1)).not.toHaveProperty('usage')
    })

    const before = single ? [] : [[1]]
    const wrong: readonly (readonly [string, readonly unknown[]])[] = [
      ['too few', before],
      ...(single ? [] : [['too many', [[1], [2], [3]]] as const]),
      ['an empty one', [...before, []]],
      ['none that is a vector', [...before, 'not base64!']],
      ['nothing in its place', [...before, null]],
      ['numbers that are none', [...before, [null]]],
    ]
    it.each(wrong)('with %s are refused, because it is unclear which input has none', (_, some) => {
      expect(failing(() => answered(some))).toMatchObject({ errorType: 'provider_unavailable', details: { source: 'provider' } })
    })

    it.each(['', 'null', '[]', '{}', '<html>', '{"data":7}', '{"embeddings":{}}'])(
      'that are malformed are reported as a failure of the provider: %s',
      (text) => {
        expect(failing(() => decode(text))).toMatchObject({ errorType: 'provider_unavailable', details: { source: 'provider' } })
      },
    )

    it('of status 200 that hold an error are that error', () => {
      const error = failing(() => decode('{"error":{"message":"Rate limit reached","type":"rate_limit_exceeded","code":"rate_limit_exceeded"}}'))
      expect(error).toMatchObject({ errorType: 'rate_limit_exceeded' })
    })

    it('do not come as a stream, and one that ends before it began is broken', () => {
      const decoder = dialect.decoder(asking({}, 'a'), target)
      expect(() => decoder.push('{"data":[]}', undefined, [])).toThrow(GatewayError)
      expect(() => decoder.end([])).toThrow(GatewayError)
    })
  })

  describe('errors', () => {
    it.each([
      [401, 'authentication'],
      [429, 'rate_limit_exceeded'],
      [500, 'provider_unavailable'],
    ] as const)('with status %d are %s', (status, errorType) => {
      expect(dialect.decodeError(status, {}, '{"error":{"message":"no"}}', target)).toMatchObject({ errorType })
    })
  })
}
