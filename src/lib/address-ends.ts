/** Punctuation that ends a sentence, or surrounds an address in Markdown, and does not belong to the address before it. */
export const SENTENCE_ENDS = '.,;:!?*،؟।'

/**
 * Punctuation of scripts that put no spaces between a sentence and the next, as the inside of a class of a regular expression: an address
 * that is written in one ends there.
 */
export const UNSPACED_PUNCTUATION =
  '\\u2018\\u2019\\u201c\\u201d\\u2026\\u3001\\u3002\\u3008-\\u3011\\u3014\\u3015\\uff01\\uff0c\\uff1a\\uff1b\\uff1f'
