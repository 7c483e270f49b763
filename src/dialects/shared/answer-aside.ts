import type { AnswerWriter } from './answer-writer.ts'

/**
 * For answers that should come as the call of a hidden tool. Text beside that call is no part of the answer: models like to announce what they do.
 * Text that begins as the answer would is the answer, and streams; other text is kept until it is known that the tool is not called.
 */
export class AnswerAside {
  readonly #writer: AnswerWriter
  #held = ''
  #state: 'open' | 'words' | 'text' | 'called' = 'open'

  constructor(writer: AnswerWriter) {
    this.#writer = writer
  }

  text(text: string): void {
    if (this.#state === 'called') return
    if (this.#state === 'text') return this.#writer.text(text)
    this.#held += text
    if (this.#state === 'words') return
    // Only white space came before this piece. There may be much of it.
    const start = text.trimStart()
    if (start === '') return
    this.#state = start.startsWith('{') ? 'text' : 'words'
    if (this.#state === 'text') this.flush()
  }

  /** The tool is called. False if there is an answer already. */
  called(): boolean {
    if (this.#state === 'called' || this.#state === 'text') return false
    this.#state = 'called'
    this.#held = ''
    return true
  }

  /** Something else follows, or nothing: the text that was kept counts. */
  flush(): void {
    if (this.#held !== '') this.#writer.text(this.#held)
    this.#held = ''
  }
}
