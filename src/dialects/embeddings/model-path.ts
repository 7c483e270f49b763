import { modelSegment } from '../shared/model-segment.ts'

/** A path in which `{model}` stands for the model. */
export const modelPath = (path: string, upstreamModel: string): string =>
  path.replace('{model}', () => modelSegment(upstreamModel).replaceAll('%40', '@'))
