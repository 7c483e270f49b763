/** A path in which `{model}` stands for the model. */
export const modelPath = (path: string, upstreamModel: string): string =>
  path.replace('{model}', () => encodeURIComponent(upstreamModel).replaceAll('%40', '@'))
