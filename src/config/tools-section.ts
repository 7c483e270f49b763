import { z } from 'zod'
import { credential, flag, httpUrl, list, price, section, text, wait, whole } from './fields.ts'

const engine = section({
  api_key: credential().optional().describe('Without: the engine’s usual variable.'),
  base_url: httpUrl().optional().describe('Where it is; `searxng` needs one.'),
  price: price().optional().describe('USD per search, instead of the list price.'),
})

/** `tools`: what the operator provides for the tools that the gateway runs itself. */
export const toolsSection = section({
  web_search: section({
    engine: text('the name of a search engine, or auto for the first one with a key')
      .default('auto')
      .describe('The engine to prefer; `auto`: the first one that has what it needs.'),
    engines: z
      .record(z.string(), engine, {
        error: 'a mapping of search engines to their settings, such as {searxng: {base_url: http://127.0.0.1:8888}}',
      })
      .default({})
      .describe('Search engines by name ([server tools](../guides/server-tools.md)).'),
  }).prefault({}),
  web_fetch: section({ robots: flag().prefault(true).describe('Whether `robots.txt` is obeyed.') }).prefault({}),
  image_generation: section({
    model: text('a model that makes images').optional().describe('Makes the images. Known to do so by `-image` in its slug.'),
  }).prefault({}),
  fusion: section({
    models: list(text('a model')).min(1, 'a list of one model or more').optional().describe('The default panel of models.'),
  }).prefault({}),
  sandbox: section({
    url: httpUrl('an http or https URL').describe('Your server that runs commands ([server tools](../guides/server-tools.md#a-sandbox)).'),
    api_key: credential().optional().describe('Sent to it as a bearer token.'),
  }).optional(),
  mcp: section({ progress_events: flag().prefault(true).describe('Whether streams hold `response.mcp_*` events.') }).prefault({}),
  limits: section({
    wall: wait().prefault('10m').describe('Time after which a tool loop gets its last turn.'),
    parallel: whole(1, 32).prefault(4).describe('Tools of one call at a time.'),
  }).prefault({}),
})
