import type { Plugin } from '../core/extension.ts'
import { createAutoRoute, type AutoRouteOptions } from './shared/auto-route.ts'

/** `gateway/auto-beta`: the same choice under the name and settings of the early track, which callers configure apart. */
export const createAutoBetaRouter = (options: Pick<AutoRouteOptions, 'catalog' | 'tokensOf'>): Plugin =>
  createAutoRoute({ id: 'auto-beta-router', router: 'auto-beta', ...options })
