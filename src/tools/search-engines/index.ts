import type { SearchEngine } from '../shared/search-engine.ts'
import { brave } from './brave.ts'
import { exa } from './exa.ts'
import { firecrawl } from './firecrawl.ts'
import { parallel } from './parallel.ts'
import { perplexity } from './perplexity.ts'
import { searxng } from './searxng.ts'
import { tavily } from './tavily.ts'

/** In the order in which `auto` takes the first one that has what it needs. */
export const searchEngines: readonly SearchEngine[] = [exa, parallel, firecrawl, perplexity, brave, tavily, searxng]
