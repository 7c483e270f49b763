import type { Endpoint, Model } from '../core/endpoint.ts'
import type { ModelRequest } from '../core/request.ts'
import { columnsOf } from './columns.ts'
import { estimateRequest } from './estimate.ts'
import { REJECTION, rejectEndpoint, SLACK, tiersAdmitted } from './filter.ts'
import { compileDemand } from './prefer.ts'
import type { ResolvedModel } from './variants.ts'

/**
 * Which endpoints of a model a plan of this request could try, for those who choose models. It is the planner's own filter, so that nobody chooses
 * what is then rejected. Throws `invalid_request` as a plan would.
 */
export function permittedEndpoints(request: ModelRequest, now: number): (model: Model) => readonly Endpoint[] {
  const demand = compileDemand(request, estimateRequest(request), undefined, now)
  return (model) => {
    const resolved: ResolvedModel = { name: model.slug, model, variant: undefined, anyVariant: model.slug.includes(':'), effects: {}, via: 'slug' }
    const group = { resolved, model, columns: columnsOf(model), tiers: tiersAdmitted(demand, resolved) }
    return model.endpoints.filter((_, i) => rejectEndpoint(demand, group, i, SLACK.none) === REJECTION.none)
  }
}
