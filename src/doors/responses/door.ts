import type { TranslatingDoor } from '../shared/door.ts'
import type { FoldOf } from '../shared/fold.ts'
import { Assembler } from './assemble.ts'

const fold: FoldOf = (options) => new Assembler(options)

/** `POST /api/v1/responses`, the gateway's own format. */
export const responses: TranslatingDoor = {
  path: '/api/v1/responses',
  apiType: 'responses',
  refersToItems: true,
  read: (body) => ({ body, fold }),
}
