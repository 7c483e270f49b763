import { perMillion, priceShown } from '../../lib/price.ts'

/** USD for a million tokens in and out; empty if neither is known, as for names that stand for other models. */
export function priceOf({ prompt, completion }: { readonly prompt: string; readonly completion: string }): string {
  const [input, output] = [perMillion(prompt), perMillion(completion)]
  if (input === undefined && output === undefined) return ''
  return input === 0 && output === 0 ? 'free' : `${priceShown(input)} in, ${priceShown(output)} out`
}
