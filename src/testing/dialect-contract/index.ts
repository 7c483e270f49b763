import type { Dialect } from '../../core/dialect.ts'
import type { VendorVoice } from '../voices/voice.ts'
import { subjectOf } from './subject.ts'
import { describeRequests } from './requests.ts'
import { describeAnswers } from './answers.ts'
import { describeContent } from './content.ts'
import { describeReasoning } from './reasoning.ts'
import { describeErrors } from './errors.ts'
import { describeHistories } from './histories.ts'

/** What every dialect must do, whatever its format. `voice` is a second, independent description of that format. */
export function describeDialectContract(dialect: Dialect, voice: VendorVoice): void {
  const subject = subjectOf(dialect, voice)
  describeRequests(subject)
  describeContent(subject)
  describeHistories(subject)
  describeAnswers(subject)
  describeReasoning(subject)
  describeErrors(subject)
}
