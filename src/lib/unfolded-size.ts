/** A counted repetition. */
const COUNTED = /\{(\d{1,6})(?:,(\d{0,6}))?\}/y
/** The beginning of a group, after its parenthesis. */
const OPENING = /\?(?:P?<[^>]{0,100}>|[\w-]*:)/y
/** Flags for the rest of the pattern: a group without content. */
const FLAGS = /\?[\w-]*\)/y
/** An escape of more than one character. */
const LONG_ESCAPE = /[pPxu]\{[^}]{0,100}\}/y

/**
 * Estimates from its text how many instructions a regular expression compiles to: repetitions are unrolled, and multiply if nested. Compiling it to find
 * out would already cost the time, because ten thousand characters can unroll to a million instructions. Without such repetitions the result is at most
 * the number of characters.
 */
export function unfoldedSize(source: string): number {
  const around: number[] = []
  /** The size of the sequence so far, and of its last part, which a repetition would repeat. */
  let size = 0
  let last = 0
  const add = (instructions: number): void => {
    size += instructions
    last = instructions
  }
  for (let at = 0; at < source.length;) {
    const char = source[at]!
    const counted = char === '{' ? matchAt(COUNTED, source, at) : null
    if (counted !== null) {
      const times = Math.max(1, Number(counted[1]), Number(counted[2] ?? 0))
      size += last * (times - 1)
      last *= times
      at += counted[0].length
    } else if (char === '(') {
      const flags = matchAt(FLAGS, source, at + 1)
      at += 1 + (flags ?? matchAt(OPENING, source, at + 1) ?? [''])[0].length
      if (flags !== null) continue
      around.push(size)
      size = 0
    } else {
      if (char === ')') {
        const group = size + 2
        size = around.pop() ?? 0
        add(group)
      } else add(1)
      at = char === '\\' ? endOfEscape(source, at) : char === '[' ? endOfClass(source, at) : at + 1
    }
  }
  return around.reduce((sum, outer) => sum + outer, size)
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(source)
}

function endOfEscape(source: string, at: number): number {
  if (source[at + 1] === 'Q') {
    const end = source.indexOf('\\E', at + 2)
    return end === -1 ? source.length : end + 2
  }
  return at + 1 + (matchAt(LONG_ESCAPE, source, at + 1) ?? [' '])[0].length
}

/** The end of a character class. A bracket at its very beginning, after a backslash or in a named class (`[:alpha:]`) does not end it. */
function endOfClass(source: string, at: number): number {
  let end = at + 1
  if (source[end] === '^') end++
  if (source[end] === ']') end++
  while (end < source.length && source[end] !== ']') {
    if (source[end] === '\\') end += 2
    else if (source.startsWith('[:', end)) end = Math.max(end + 2, source.indexOf(':]', end + 2) + 2)
    else end++
  }
  return end + 1
}
