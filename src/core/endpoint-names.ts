import type { Endpoint } from './endpoint.ts'

/** Whether `meant` accepts any name by which callers may ask for the model of an endpoint: its slug or an alias, each with or without the variant. */
export function isNamed({ model, variant, aliases }: Pick<Endpoint, 'model' | 'variant' | 'aliases'>, meant: (name: string) => boolean): boolean {
  const either = (name: string): boolean => meant(name) || (variant !== undefined && meant(`${name}:${variant}`))
  return either(model) || aliases?.some(either) === true
}

/** The catalog model that an endpoint serves. A variant counts as a model of its own, `author/slug:free`. */
export const servedModel = ({ model, variant }: Pick<Endpoint, 'model' | 'variant'>): string =>
  variant === undefined ? model : `${model}:${variant}`
