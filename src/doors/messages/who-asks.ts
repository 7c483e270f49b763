import { isJsonObject } from '../../lib/json.ts'

const SESSION = /_session_[\da-f-]{36}$/
/** What is longer tells more than that. */
const MAX_CHARS = 1_024

/**
 * Who asks, of a `metadata.user_id`. Agents put the session into it as well, behind the name or as a member of an object in text: with it each
 * session would be somebody else to whoever counts by users. Anything else is a name as it stands.
 */
export function whoAsks(userId: string): string {
  const told = userId.startsWith('{') && userId.length <= MAX_CHARS ? parsed(userId) : undefined
  if (!isJsonObject(told) || typeof told['session_id'] !== 'string') return userId.replace(SESSION, '')
  const { account_uuid: account, device_id: device } = told
  return [account, device].find((name): name is string => typeof name === 'string' && name !== '') ?? userId
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
