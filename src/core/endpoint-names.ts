import type { Endpoint } from './endpoint.ts'

/** Whether one of the names by which callers may ask for the model of an endpoint is meant: its slug, its aliases, each also with the variant. */
export function isNamed({ model, variant, aliases }: Pick<Endpoint, 'model' | 'variant' | 'aliases'>, meant: (name: string) => boolean): boolean {
  const either = (name: string): boolean => meant(name) || (variant !== undefined && meant(`${name}:${variant}`))
  return either(model) || aliases?.some(either) === true
}

/** The model of the catalog an endpoint serves: a variant is one of its own, `author/slug:free`. */
export const servedModel = ({ model, variant }: Pick<Endpoint, 'model' | 'variant'>): string =>
  variant === undefined ? model : `${model}:${variant}`
