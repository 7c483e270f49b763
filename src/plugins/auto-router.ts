import type { Plugin } from '../core/extension.ts'
import { createAutoRoute, type AutoRouteOptions } from './shared/auto-route.ts'

/** `gateway/auto`: the gateway chooses the model. */
export const createAutoRouter = (options: Pick<AutoRouteOptions, 'catalog' | 'tokensOf'>): Plugin =>
  createAutoRoute({ id: 'auto-router', router: 'auto', ...options })
