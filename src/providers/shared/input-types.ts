/**
 * Input types of embeddings, for a vendor that only tells queries from the documents that they should find. `document` is its word for the latter. An
 * empty word means that no type is sent.
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
