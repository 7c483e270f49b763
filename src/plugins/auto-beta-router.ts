import type { Plugin } from '../core/extension.ts'
import { createAutoRoute, type AutoRouteOptions } from './shared/auto-route.ts'

/** `gateway/auto-beta`: the same router under the name and settings of the early track, which callers configure separately. */
export const createAutoBetaRouter = (options: Pick<AutoRouteOptions, 'catalog' | 'tokensOf'>): Plugin =>
  createAutoRoute({ id: 'auto-beta-router', router: 'auto-beta', ...options })
