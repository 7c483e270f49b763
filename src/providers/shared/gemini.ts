/**
 * What Google's service tiers cost, for the option `tier_factors`: `flex` has a discount of 50 %, `priority` costs 75 to 100 % more, depending on the
 * model (https://ai.google.dev/gemini-api/docs/optimization).
 */
export const GEMINI_TIER_FACTORS = [
  { tier: 'flex', factor: 0.5 },
  { tier: 'priority', factor: 1.8 },
]
