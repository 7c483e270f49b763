import { z } from 'zod'
import type { BatchLimits } from '../../core/dialect.ts'

/** How much a server accepts in one request, as options of its format. */
export const mostInputs = (count: number) =>
  z.int().positive().default(count).describe('Maximum number of inputs per request. More are sent in several requests, some in parallel.')
export const mostTokens = (count: number) =>
  z.int().positive().default(count).describe('Maximum number of tokens per request. More are sent in several requests.')

interface Declared {
  readonly most_inputs: number
  readonly most_tokens?: number | undefined
}

export const limitsOf = ({ options }: { readonly options: Declared }): BatchLimits => ({ inputs: options.most_inputs, tokens: options.most_tokens })
