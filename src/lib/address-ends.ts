/** Punctuation that ends a sentence or surrounds a URL in Markdown, and does not belong to the URL before it. */
export const SENTENCE_ENDS = '.,;:!?*،؟।'

/** Punctuation of scripts without spaces between sentences, for a character class of a regular expression. A URL inside such a sentence ends there. */
export const UNSPACED_PUNCTUATION =
  '\\u2018\\u2019\\u201c\\u201d\\u2026\\u3001\\u3002\\u3008-\\u3011\\u3014\\u3015\\uff01\\uff0c\\uff1a\\uff1b\\uff1f'
