import { cohereEmbed } from './cohere.ts'
import { geminiEmbeddings } from './gemini.ts'
import { openAiEmbeddings } from './openai.ts'
import { titanEmbed } from './titan.ts'
import { vertexEmbedContent } from './vertex-embed-content.ts'
import { vertexPredict } from './vertex-predict.ts'

/** Formats in which servers are asked for vectors; those of conversations, or a provider, name the one that goes with them. */
export const embeddingDialects = [openAiEmbeddings, geminiEmbeddings, cohereEmbed, titanEmbed, vertexPredict, vertexEmbedContent] as const
