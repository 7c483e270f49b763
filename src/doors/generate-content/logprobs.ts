import type { JsonObject, Logprob, OutputItem } from '../../core/item.ts'

const candidateOf = ({ token, logprob }: Pick<Logprob, 'token' | 'logprob'>): JsonObject => ({ token: token.toWellFormed(), logProbability: logprob })

/** The log probability of each token of an answer, if its caller asked for them: members of a candidate. */
export function logprobsResultOf(output: readonly OutputItem[]): JsonObject {
  const tokens = output.flatMap((item) => (item.type === 'message' ? logprobsIn(item['content']) : []))
  if (tokens.length === 0) return {}
  const sum = tokens.reduce((all, { logprob }) => all + logprob, 0)
  return {
    avgLogprobs: sum / tokens.length,
    logprobsResult: {
      topCandidates: tokens.map(({ top_logprobs: top }) => ({ candidates: top.map(candidateOf) })),
      chosenCandidates: tokens.map(candidateOf),
    },
  }
}

function logprobsIn(content: unknown): readonly Logprob[] {
  if (!Array.isArray(content)) return []
  return (content as readonly { readonly logprobs?: readonly Logprob[] }[]).flatMap(({ logprobs }) => logprobs ?? [])
}
