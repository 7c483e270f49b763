import type { Endpoint, Model } from '../core/endpoint.ts'
import type { ModelRequest } from '../core/request.ts'
import { columnsOf } from './columns.ts'
import { estimateRequest } from './estimate.ts'
import { REJECTION, rejectEndpoint, SLACK, tiersAdmitted } from './filter.ts'
import { compileDemand } from './prefer.ts'
import type { ResolvedModel } from './variants.ts'

/**
 * The endpoints of a model that a plan of this request could try, for code that chooses models. It uses the planner's own filter, so that it never chooses
 * what the planner then rejects. Throws `invalid_request` as a plan would.
 */
export function permittedEndpoints(request: ModelRequest, now: number): (model: Model) => readonly Endpoint[] {
  const demand = compileDemand(request, estimateRequest(request), undefined, now)
  return (model) => {
    const resolved: ResolvedModel = { name: model.slug, model, variant: undefined, anyVariant: model.slug.includes(':'), effects: {}, via: 'slug' }
    const group = { resolved, model, columns: columnsOf(model), tiers: tiersAdmitted(demand, resolved) }
    return model.endpoints.filter((_, i) => rejectEndpoint(demand, group, i, SLACK.none) === REJECTION.none)
  }
}
