import { z } from 'zod'
import type { BatchLimits } from '../../core/dialect.ts'

/** How much a server takes at a time, as options of its format. */
export const mostInputs = (count: number) =>
  z.int().positive().default(count).describe('Inputs of one request: of more the server is asked for several times, some side by side.')
export const mostTokens = (count: number) =>
  z.int().positive().default(count).describe('Tokens of all inputs of one request, which is divided likewise.')

interface Declared {
  readonly most_inputs: number
  readonly most_tokens?: number | undefined
}

export const limitsOf = ({ options }: { readonly options: Declared }): BatchLimits => ({ inputs: options.most_inputs, tokens: options.most_tokens })
