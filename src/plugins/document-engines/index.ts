import type { DocumentEngine } from '../shared/document-engine.ts'
import { cloudflareAi } from './cloudflare-ai.ts'
import { mistralOcr } from './mistral-ocr.ts'

/** Every service that reads documents. A new one is a file in this folder and a line here. */
export const documentEngines: readonly DocumentEngine[] = [mistralOcr, cloudflareAi]
