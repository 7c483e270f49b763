import { cohereEmbed } from './cohere.ts'
import { geminiEmbeddings } from './gemini.ts'
import { openAiEmbeddings } from './openai.ts'
import { titanEmbed } from './titan.ts'
import { vertexEmbedContent } from './vertex-embed-content.ts'
import { vertexPredict } from './vertex-predict.ts'

/** Formats of embeddings. A format of conversations, or a provider, names the one that belongs to it. */
export const embeddingDialects = [openAiEmbeddings, geminiEmbeddings, cohereEmbed, titanEmbed, vertexPredict, vertexEmbedContent] as const
