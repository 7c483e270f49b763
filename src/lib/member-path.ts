/** The path of a member of `base` in the notation of configurations: `plugins[0].analysis_models[1]`. An empty `base` is the root. */
export function memberPath(base: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`),
    base,
  )
}
