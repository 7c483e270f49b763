import { isJsonObject } from '../../lib/json.ts'

const SESSION = /_session_[\da-f-]{36}$/
/** A longer value contains more than a name and a session. */
const MAX_CHARS = 1_024

/**
 * The user in a `metadata.user_id`. Agents also put the session into it, after the name or as a member of an object in text; if it were kept, whoever
 * counts users would count each session as another user. Any other value is taken as the name.
 */
export function userNameIn(userId: string): string {
  const parts = userId.startsWith('{') && userId.length <= MAX_CHARS ? parsed(userId) : undefined
  if (!isJsonObject(parts) || typeof parts['session_id'] !== 'string') return userId.replace(SESSION, '')
  const { account_uuid: account, device_id: device } = parts
  return [account, device].find((name): name is string => typeof name === 'string' && name !== '') ?? userId
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
