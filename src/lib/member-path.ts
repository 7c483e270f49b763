/** Where a member of `base` stands, as callers write it: `plugins[0].analysis_models[1]`. */
export function memberPath(base: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`), base)
}
