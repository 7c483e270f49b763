import type { SearchEngine } from '../shared/search-engine.ts'
import { brave } from './brave.ts'
import { exa } from './exa.ts'
import { firecrawl } from './firecrawl.ts'
import { parallel } from './parallel.ts'
import { perplexity } from './perplexity.ts'
import { searxng } from './searxng.ts'
import { tavily } from './tavily.ts'

/** In order of preference: `auto` uses the first one that is fully configured. */
export const searchEngines: readonly SearchEngine[] = [exa, parallel, firecrawl, perplexity, brave, tavily, searxng]
