import { Notation } from '../shared/references.ts'

/** References of the form `os.environ/NAME`. */
export const NOTATION = new Notation(/^os\.environ\/([A-Za-z_]\w*)$/)
