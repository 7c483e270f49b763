/** How the models of a call were chosen: by its name alone, or by whom. */
export type Strategy = 'direct' | 'auto' | 'free' | 'latest' | 'alias' | 'fallback' | 'pareto' | 'bodybuilder' | 'fusion'
