import type { ModelRequest } from '../../core/request.ts'
import { inputsOf } from './candidates.ts'
import { lastQuestion } from './question.ts'

/** The kind of work that a request is, determined by readable rules. */
export interface Task {
  /** `code:debugging`, `math`, `agent:tools`, ... */
  readonly type: string
  /** 0: any model can do it; from 2 on: hard. */
  readonly difficulty: number
  /** The rules that matched. */
  readonly signals: readonly string[]
}

const READ_CHARS = 8_000
const LONG_TOKENS = 20_000
const MANY_TOOLS = 8

const CODE_WORDS =
  /\b(?:function|def|class|import|const|let|return|public|void|async|await|select .{1,60} from|#include|npm|pip|git|api|sql|python|javascript|typescript|rust|golang|java|kotlin|c\+\+|bash|regex|refactor\w*|compil\w+|unit tests?|stack ?trace|traceback|exception|null pointer|segfault|algorithm)\b/gi
const DEBUG = /\b(?:bugs?|debug\w*|fix(?:es|ing)?|errors?|exceptions?|traceback|stack ?trace|fails?|failing|crash\w*|broken|does ?n.?t work)\b/i
const REVIEW = /\b(?:code review|review (?:this|the|my)|refactor\w*)\b/i
const MATH =
  /[∫∑∏√≤≥≠∂∞]|\\(?:frac|int|sum|sqrt|lim)\b|\b(?:prove|proof|theorem|lemma|integrals?|derivatives?|equations?|solve for|matrix|eigen\w+|probability|combinator\w+|modulo)\b/i
const TRANSLATE = /(?<!\p{L})(?:translat|übersetz|traduis|traduc|traduz|traduç)\p{L}*|翻译|翻訳/iu
const SUMMARY = /\b(?:summari[sz]\w*|summary|tl;?dr|key points|zusammenfass\w+|résum\w+)\b/i
const WRITING =
  /\b(?:write|draft|compose|rewrite|polish)\b.{0,60}\b(?:e-?mails?|letters?|essays?|stor(?:y|ies)|poems?|blog|posts?|articles?|speech|slogans?)\b/i
const EXTRACTION = /\b(?:extract|classify|categori[sz]e|label|parse)\b/i
const DEMANDING =
  /\b(?:step by step|think (?:hard|carefully|deeply)|trade-?offs?|architect\w*|design (?:a|the|an)|in depth|rigorous\w*|research|compare and contrast|prove|optimi[sz]e|strategy)\b/i
const NOT_LATIN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Thai}\p{Script=Hebrew}\p{Script=Greek}]/gu
const EFFORTS: ReadonlySet<string> = new Set(['high', 'xhigh', 'max'])

/** Classifies by the last question, its attachments, and the requirements for the answer. `tokens`: of the whole input. */
export function classifyTask(request: ModelRequest, tokens: number): Task {
  const text = (lastQuestion(request)?.text ?? '').slice(0, READ_CHARS)
  const signals: string[] = []
  const noted = (signal: string, holds: boolean): boolean => {
    if (holds) signals.push(signal)
    return holds
  }
  let difficulty = 0
  const harder = (signal: string, holds: boolean): void => {
    if (noted(signal, holds)) difficulty++
  }
  const inputs = inputsOf(request)
  const tools = request.tools?.length ?? 0
  const working = request.input.some(({ type }) => type === 'function_call_output')
  const code = text.includes('```') || (text.match(CODE_WORDS)?.length ?? 0) >= 2
  noted('language:not_latin', (text.match(NOT_LATIN)?.length ?? 0) > text.length * 0.3)
  const type = typeOf()
  harder('demanding_words', DEMANDING.test(text))
  harder('reasoning_wanted', EFFORTS.has(request.reasoning?.effort ?? '') || (request.reasoning?.max_tokens ?? 0) > 0)
  harder('long_input', tokens > LONG_TOKENS)
  harder('many_tools', tools >= MANY_TOOLS || (tools > 0 && working))
  harder('hard_kind', type === 'math' || type === 'code:debugging')
  return { type, difficulty, signals }

  function typeOf(): string {
    if (noted('tools', tools > 0)) return working || tools >= MANY_TOOLS ? 'agent:multi_step' : 'agent:tools'
    if (noted('code', code)) return DEBUG.test(text) ? 'code:debugging' : REVIEW.test(text) ? 'code:review' : 'code:generation'
    if (noted('math', MATH.test(text))) return 'math'
    if (noted('images', inputs.has('image') || inputs.has('video'))) return 'vision'
    if (noted('files', inputs.has('file'))) return 'document'
    if (noted('audio', inputs.has('audio'))) return 'audio'
    if (noted('translation', TRANSLATE.test(text))) return 'translation'
    if (noted('summary', SUMMARY.test(text))) return 'summary'
    if (noted('structured_output', request.text?.format?.type === 'json_schema') || noted('extraction', EXTRACTION.test(text))) return 'extraction'
    if (noted('writing', WRITING.test(text))) return 'writing'
    return 'conversation'
  }
}
