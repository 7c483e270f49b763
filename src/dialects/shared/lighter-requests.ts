import { withLooseSchemas } from './loose-schemas.ts'
import { withoutParameters } from './refused-parameters.ts'
import { withoutReasoning } from './without-reasoning.ts'

/** The request without what an endpoint refused it for, according to the error's metadata. */
export const lighterRequests = { withoutReasoning, withLooseSchemas, withoutParameters }
