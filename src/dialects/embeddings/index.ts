import { cohereEmbed } from './cohere.ts'
import { geminiEmbeddings } from './gemini.ts'
import { openAiEmbeddings } from './openai.ts'

/** Formats in which servers are asked for vectors; those of conversations name the one that goes with them. */
export const embeddingDialects = [openAiEmbeddings, geminiEmbeddings, cohereEmbed] as const
