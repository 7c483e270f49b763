import { afterEach, expect, it, vi } from 'vitest'
import { chatText, startFakeUpstream, stream } from '../../src/testing/fake-upstream.ts'
import { startGateway } from '../../src/testing/start-gateway.ts'

afterEach(() => void vi.useRealTimers())

it('an answer is charged by the time of day where the price data has prices by time of day', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-10-01T12:00:00Z') })
  const upstream = await startFakeUpstream(stream(chatText('hi')))
  const gateway = await startGateway({ providers: [{ slug: 'deepseek', base_url: upstream.url, api_keys: ['k'] }] })
  const listed = gateway.app.catalog().find('deepseek/deepseek-chat')!.endpoints[0]!.pricing
  const peak = listed.windows![0]!
  const ask = async (at: string): Promise<number> => {
    vi.setSystemTime(Date.parse(`2026-10-01T${at}Z`))
    const answer = (await (await gateway.respond({ model: 'deepseek/deepseek-chat', input: 'hi' })).json()) as { usage: { cost: number } }
    return answer.usage.cost
  }
  // The scripted answer counts 11 tokens, 3 of them cached, and 7.
  const costAt = ({ input, output, cacheRead }: typeof peak): number => (8 * input! + 3 * cacheRead! + 7 * output!) / 1e6
  expect(peak.input).toBeGreaterThan(listed.input!)
  expect(await ask('12:00:00')).toBeCloseTo(costAt(peak), 12)
  expect(await ask('20:00:00')).toBeCloseTo(costAt({ ...listed, from: 0, to: 0 }), 12)
  await gateway.close()
  await upstream.close()
})
