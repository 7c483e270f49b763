import { GatewayError } from '../../core/error.ts'
import type { ToolContext } from '../../core/extension.ts'
import type { JsonObject } from '../../core/item.ts'
import { EgressError, type Egress } from '../../lib/egress.ts'
import type { Secret } from '../../lib/secret.ts'
import { parseJsonText } from '../../lib/json.ts'

/** The operator's server for commands and files of models. The gateway itself never starts a process. */
export interface Sandbox {
  readonly url: string
  readonly apiKey: Secret | undefined
  readonly egress: Egress
}

const MAX_BYTES = 2 * 1024 * 1024

/** Throws `invalid_request` if the operator has configured no sandbox. */
export function requireSandbox(sandbox: Sandbox | undefined, tool: string): void {
  if (sandbox !== undefined) return
  throw new GatewayError(
    'invalid_request',
    `${tool} needs a sandbox, and this gateway has none: its operator sets the address of one under tools.sandbox.url`,
  )
}

/**
 * `POST {url}/{tool}` with the call's arguments and its owner: a sandbox must keep workspaces apart. Returns the fields of the JSON object in the answer;
 * throws GatewayError otherwise.
 */
export async function callSandbox(
  sandbox: Sandbox,
  tool: string,
  args: object,
  context: ToolContext,
): Promise<{ readonly [field: string]: unknown }> {
  const { call, signal } = context
  try {
    const response = await sandbox.egress.request({
      method: 'POST',
      url: `${sandbox.url}/${tool}`,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(sandbox.apiKey === undefined ? {} : { authorization: `Bearer ${sandbox.apiKey.reveal()}` }),
      },
      body: JSON.stringify({
        ...args,
        workspace_id: call.owner.workspaceId,
        session_id: call.sessionId ?? call.id,
        environment: (context.settings as { environment?: unknown }).environment,
      }),
      signal,
      timeoutMs: 10 * 60_000,
      maxResponseBytes: MAX_BYTES,
    })
    if (response.status !== 200) throw new GatewayError('provider_unavailable', `The sandbox answered with status ${response.status}`)
    const body = parseJsonText(response.body.toString())
    if (typeof body !== 'object' || body === null) throw new GatewayError('provider_unavailable', 'The sandbox gave an answer that is not an object')
    return body as { readonly [field: string]: unknown }
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw new GatewayError(
      'provider_unavailable',
      error instanceof EgressError ? 'The sandbox cannot be reached' : 'The sandbox gave an answer that cannot be read',
      { cause: error },
    )
  }
}

/** The arguments as the model wrote them, if the item still has them. Callers may keep only the item's own fields, from which `fallback` is made. */
export function argumentsOf({ arguments: written }: JsonObject, fallback: unknown): string {
  return typeof written === 'string' && written !== '' ? written : JSON.stringify(fallback)
}
