/**
 * Words for what vectors are for, of a vendor that tells questions from what they are to find and nothing else. `document`: its word for the latter.
 * Empty: it is told nothing.
 */
export const questionsAnd = (document: string): { readonly [word: string]: string } => ({
  search_query: 'query',
  search_document: document,
  document,
  passage: document,
  classification: '',
  clustering: '',
  question_answering: 'query',
  fact_verification: 'query',
  code_retrieval_query: 'query',
  semantic_similarity: '',
})
