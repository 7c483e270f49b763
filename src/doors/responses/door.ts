import type { Door, WriterOf } from '../shared/door.ts'
import { ResponsesWriter } from './responses-writer.ts'

const writer: WriterOf = (options) => new ResponsesWriter(options)

/** `POST /api/v1/responses`, whose words are the gateway's own. */
export const responses: Door = {
  path: '/api/v1/responses',
  apiType: 'responses',
  refersToItems: true,
  read: (body) => ({ body, writer }),
}
