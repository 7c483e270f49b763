/** How the models of a call were chosen: directly by name, or by which mechanism. */
export type Strategy = 'direct' | 'auto' | 'free' | 'latest' | 'alias' | 'fallback' | 'pareto' | 'bodybuilder' | 'fusion'
