const TOKEN = /'([^']*)'|"((?:\\[^]|[^"\\])*)"|\\\n|\\([^])|(#[^\n]*)|(\n|;|&&)|([ \t]+)|([^\s'"\\#;&]+|.)/gy

/**
 * The commands of a shell script as lists of words: quotes, variables, comments and lines that continue; no substitutions and no control structures. A
 * variable is read when its command is reached.
 */
export function* shellCommands(script: string, variable: (name: string) => string): Generator<readonly string[], void> {
  const expanded = (text: string): string => text.replaceAll(/\$(\w+)/g, (_, name: string) => variable(name))
  let words: string[] = []
  let word: string | undefined
  for (const [all, single, double, escaped, comment, end, space, plain] of `${script}\n`.matchAll(TOKEN)) {
    const part = single ?? double?.replaceAll(/\\(["\\`])/g, '$1') ?? escaped ?? (word === undefined ? undefined : comment) ?? plain
    if (part !== undefined) word = (word ?? '') + (single === undefined && escaped === undefined ? expanded(part) : part)
    if (word !== undefined && (end !== undefined || space !== undefined || all === '\\\n')) {
      words.push(word)
      word = undefined
    }
    if (end !== undefined && words.length > 0) {
      yield words
      words = []
    }
  }
}
