import type { Target } from '../../core/dialect.ts'
import type { FrameShape } from '../shared/frame-shape.ts'
import type { LearnedField } from './fast-path.ts'
import type { OpenAiChatOptions } from './options.ts'

/** What frames of this shape are read with beside their bytes: which choice is the answer, and the tier told before them. */
export interface KnownShape {
  readonly shape: FrameShape<LearnedField>
  readonly choice: number | undefined
  readonly tier: string | undefined
}

/** More models than a connection has in use; the oldest is forgotten. */
const MAX_MODELS = 64

/** By connection, of which the options are one object, and model: what was learned from an answer serves the next ones. */
const known = new WeakMap<OpenAiChatOptions, Map<string, KnownShape>>()

type Endpoint = Pick<Target<OpenAiChatOptions>, 'options' | 'upstreamModel'>

export const knownShape = ({ options, upstreamModel }: Endpoint): KnownShape | undefined => known.get(options)?.get(upstreamModel)

export function rememberShape({ options, upstreamModel }: Endpoint, shape: KnownShape): void {
  let models = known.get(options)
  if (models === undefined) {
    models = new Map()
    known.set(options, models)
  }
  if (models.size >= MAX_MODELS && !models.has(upstreamModel)) models.delete(models.keys().next().value!)
  models.set(upstreamModel, shape)
}
