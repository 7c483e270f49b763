import { Notation } from '../shared/references.ts'

/** `os.environ/NAME`. */
export const NOTATION = new Notation(/^os\.environ\/([A-Za-z_]\w*)$/)
