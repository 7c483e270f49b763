import type { Target } from '../../core/dialect.ts'
import type { FrameShape } from '../shared/frame-shape.ts'
import type { LearnedField } from './fast-path.ts'
import type { OpenAiChatOptions } from './options.ts'

/** What is needed to read frames of this shape, apart from their bytes: the choice with the answer, and the tier reported before them. */
export interface KnownShape {
  readonly shape: FrameShape<LearnedField>
  readonly choice: number | undefined
  readonly tier: string | undefined
}

/** More models than a connection has in use; the oldest is forgotten. */
const MAX_MODELS = 64

/** By connection, which has a single object of options, and by model: what one answer teaches is used for the next ones. */
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
