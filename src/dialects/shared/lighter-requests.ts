import { withLooseSchemas } from './loose-schemas.ts'
import { withoutParameters } from './refused-parameters.ts'
import { withoutReasoning } from './without-reasoning.ts'

/** What a request goes without where an endpoint refused it for that, as its error's metadata say. */
export const lighterRequests = { withoutReasoning, withLooseSchemas, withoutParameters }
