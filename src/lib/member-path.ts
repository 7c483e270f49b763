/** Where a member of `base` stands, as its author writes it: `plugins[0].analysis_models[1]`. An empty `base` is what everything stands in. */
export function memberPath(base: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`),
    base,
  )
}
