import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import type { Owner } from '../../core/call.ts'
import type { JsonObject } from '../../core/item.ts'
import type { PresetAccounts, PresetContent } from '../../core/preset.ts'
import { decodeResponsesRequest } from '../../doors/responses/decode-request.ts'
import { PRESET_FIELDS, PRESET_ONLY_FIELDS } from '../../doors/shared/apply-preset.ts'
import { defined } from '../../lib/defined.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import {
  createPresetBody,
  listPresetsQuery,
  hasMask,
  presentDesignated,
  presentPreset,
  presentVersion,
  presetAnswer,
  presetsAnswer,
  slugParams,
  updatePresetBody,
  versionAnswer,
  versionParams,
  versionsAnswer,
  workspaceQuery,
} from './preset-shapes.ts'
import { deletedAnswer, pageOf, parseBody, parseInput, parseQuery, unlessNoWorkspace, workspaceForNew, workspaceWanted } from './request-input.ts'
import { SECRET_KEY_CHANGED, type RouteDoc } from './route-doc.ts'
import { asStored } from './uuid-spelling.ts'

export interface PresetRouteOptions {
  readonly presets: PresetAccounts
  readonly bodyLimitBytes: number
  /** Counts against the requests per minute of an inference key. Rejects with GatewayError `rate_limit_exceeded`. */
  readonly countRequest: (owner: Owner) => Promise<void>
}

const tag = 'Presets'
const taken = { 409: 'The slug is taken, or the workspace has as many presets as it may have.', ...SECRET_KEY_CHANGED }
const docs = {
  list: {
    id: 'listPresets',
    tag,
    summary: 'List presets, the most recently updated first',
    query: listPresetsQuery,
    answer: presetsAnswer,
    errors: { 404: 'The workspace does not exist, or not for this key.' },
  },
  create: { id: 'createPreset', tag, summary: 'Create a preset', body: createPresetBody, status: 201, answer: presetAnswer, errors: taken },
  get: { id: 'getPreset', tag, summary: 'Read a preset with its active version', query: workspaceQuery, answer: presetAnswer },
  update: {
    id: 'updatePreset',
    tag,
    summary: 'Change a preset; a new system prompt or configuration makes a new version',
    query: workspaceQuery,
    body: updatePresetBody,
    answer: presetAnswer,
    errors: SECRET_KEY_CHANGED,
  },
  remove: { id: 'deletePreset', tag, summary: 'Delete a preset and its versions', query: workspaceQuery, answer: deletedAnswer },
  versions: {
    id: 'listPresetVersions',
    tag,
    summary: 'List the versions of a preset, the oldest first',
    query: listPresetsQuery,
    answer: versionsAnswer,
  },
  version: {
    id: 'getPresetVersion',
    tag,
    summary: 'Read one version of a preset',
    query: workspaceQuery,
    params: versionParams,
    answer: versionAnswer,
  },
  save: {
    id: 'createPresetsResponses',
    tag,
    summary: 'Save the fields of a request as a preset, or as a new version of one',
    query: workspaceQuery,
    body: { component: 'ResponsesRequest' },
    answer: presetAnswer,
    errors: {
      ...taken,
      403: 'The current version of the preset was made by somebody else, and the key is an inference key.',
      429: 'The inference key has made as many requests as it may in a minute, or too many wrong keys came from this address.',
    },
  },
} satisfies { readonly [name: string]: RouteDoc }

type SlugRequest = FastifyRequest<{ Params: { slug: string } }>

/** The workspace a request is about. Inference keys see only their own. */
function workspaceOf(request: FastifyRequest, named: string | undefined): string {
  const { key, owner } = callerOf(request)
  if (key.kind === 'management') return workspaceWanted(request, named)
  if (named !== undefined && asStored(named) !== owner.workspaceId) throw new GatewayError('not_found', 'There is no such workspace')
  return owner.workspaceId
}

const workspaceIn = (request: FastifyRequest): string => workspaceOf(request, parseQuery(workspaceQuery, request).workspace_id)
/** Not validated: a malformed slug is simply not found. */
const slugOf = ({ params }: SlugRequest): string => params.slug

/** Keys for calls use the servers of a preset's tools, and are not told where they are: some addresses are keys themselves. */
const managesIn = (request: FastifyRequest): boolean => callerOf(request).key.kind === 'management'

const creatorOf = (request: FastifyRequest): { readonly creatorUserId: string | null; readonly creatorId: string } => {
  const { owner } = callerOf(request)
  return { creatorUserId: owner.userId ?? null, creatorId: owner.userId ?? owner.keyHash }
}

/** `/api/v1/presets`. Every key can read the presets of its workspace and save its request as one; everything else needs a management key. */
export function presetRoutes({ presets, bodyLimitBytes, countRequest }: PresetRouteOptions): ManagementRoutes {
  return (app) => {
    app.get('/api/v1/presets', { config: { access: 'any', doc: docs.list } }, async (request): Promise<z.output<typeof presetsAnswer>> => {
      const { offset, limit, workspace_id } = parseQuery(listPresetsQuery, request)
      const all = await presets.list(workspaceOf(request, workspace_id))
      return { data: pageOf(all, offset, limit).map(presentPreset), total_count: all.length }
    })

    app.post('/api/v1/presets', { config: { doc: docs.create } }, async (request, reply) => {
      const body = parseBody(createPresetBody, request)
      const created = await unlessNoWorkspace(
        presets.create({
          workspaceId: workspaceForNew(request, body.workspace_id),
          slug: body.slug,
          ...(body.name === undefined ? {} : { name: body.name }),
          description: body.description ?? null,
          content: { systemPrompt: body.system_prompt ?? null, config: checkConfig(body.config ?? {}) },
          ...creatorOf(request),
        }),
      )
      return reply.code(201).send({ data: presentDesignated(created, true) } satisfies z.output<typeof presetAnswer>)
    })

    app.get(
      '/api/v1/presets/:slug',
      { config: { access: 'any', doc: docs.get } },
      async (request: SlugRequest): Promise<z.output<typeof presetAnswer>> => ({
        data: presentDesignated(await presets.get(workspaceIn(request), slugOf(request)), managesIn(request)),
      }),
    )

    app.patch('/api/v1/presets/:slug', { config: { doc: docs.update } }, async (request: SlugRequest): Promise<z.output<typeof presetAnswer>> => {
      const { system_prompt: systemPrompt, config, designated_version: designatedVersion, ...fields } = parseBody(updatePresetBody, request)
      const workspaceId = workspaceIn(request)
      const slug = slugOf(request)
      const content = defined({ systemPrompt, config: config && checkConfig(config) })
      const version = Object.keys(content).length === 0 ? undefined : { ...content, creatorId: creatorOf(request).creatorId }
      return { data: presentDesignated(await presets.update(workspaceId, slug, defined({ ...fields, content: version, designatedVersion })), true) }
    })

    app.delete('/api/v1/presets/:slug', { config: { doc: docs.remove } }, async (request: SlugRequest): Promise<z.output<typeof deletedAnswer>> => {
      await presets.remove(workspaceIn(request), slugOf(request))
      return { deleted: true }
    })

    app.get(
      '/api/v1/presets/:slug/versions',
      { config: { access: 'any', doc: docs.versions } },
      async (request: SlugRequest): Promise<z.output<typeof versionsAnswer>> => {
        const { offset, limit, workspace_id } = parseQuery(listPresetsQuery, request)
        const { versions, total } = await presets.versions(workspaceOf(request, workspace_id), slugOf(request), { offset, limit })
        return { data: versions.map((version) => presentVersion(version, managesIn(request))), total_count: total }
      },
    )

    app.get(
      '/api/v1/presets/:slug/versions/:version',
      { config: { access: 'any', doc: docs.version } },
      async (request: FastifyRequest): Promise<z.output<typeof versionAnswer>> => {
        const { slug, version } = parseInput(versionParams, request.params)
        return { data: presentVersion(await presets.version(workspaceIn(request), slug, version), managesIn(request)) }
      },
    )

    const saving = { bodyLimit: bodyLimitBytes, config: { access: 'any', doc: docs.save } } as const
    app.post('/api/v1/presets/:slug/responses', saving, async (request: SlugRequest): Promise<z.output<typeof presetAnswer>> => {
      const workspaceId = workspaceIn(request)
      const { key, owner } = callerOf(request)
      if (key.kind === 'inference') await countRequest(owner)
      const saved = await presets.save({
        workspaceId,
        slug: parseInput(slugParams, request.params).slug,
        content: contentOf(request.body),
        // Every caller of a preset is given its instructions and tools, so a key for calls changes none of others.
        ownOnly: key.kind === 'inference',
        ...creatorOf(request),
      })
      return { data: presentDesignated(saved, managesIn(request)) }
    })
  }
}

/** The fields of a request that a preset may set; the others are ignored. */
function contentOf(body: unknown): PresetContent {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new GatewayError('invalid_request', 'The body must be an object')
  const { instructions, ...fields } = body as JsonObject
  if (instructions !== undefined && instructions !== null && typeof instructions !== 'string')
    throw new GatewayError('invalid_request', 'instructions: must be a string', { path: 'instructions' })
  const config = Object.fromEntries(
    PRESET_FIELDS.filter((name) => fields[name] !== undefined && fields[name] !== null).map((name) => [name, fields[name]]),
  )
  return { systemPrompt: instructions ?? null, config: checkConfig(config) }
}

/** A configuration that would be refused in a request is refused when it is stored. */
function checkConfig(config: JsonObject): JsonObject {
  const foreign = Object.keys(config).find((name) => !PRESET_FIELDS.includes(name) && !PRESET_ONLY_FIELDS.includes(name))
  if (foreign !== undefined)
    throw new GatewayError('invalid_request', `config: ${JSON.stringify(foreign.slice(0, 60))} is nothing a preset can set`, { path: 'config' })
  checkCaching(config)
  decodeResponsesRequest({ ...config, input: '-' })
  const names = [config['model'], ...((config['models'] as readonly unknown[] | null | undefined) ?? [])]
  if (names.some((name) => typeof name === 'string' && name.includes('@preset/')))
    throw new GatewayError('invalid_request', 'model: a preset cannot name another preset', { path: 'model' })
  if (hasMask(config['tools']))
    throw new GatewayError('invalid_request', 'tools: a masked credential cannot be stored; send the credential itself', { path: 'tools' })
  return config
}

/** In a preset null means "no value". */
function checkCaching({ cache_enabled: enabled, cache_ttl_seconds: seconds }: JsonObject): void {
  if (enabled !== undefined && enabled !== null && typeof enabled !== 'boolean')
    throw new GatewayError('invalid_request', 'cache_enabled: must be true or false', { path: 'cache_enabled' })
  if (seconds !== undefined && seconds !== null && !(Number.isInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= 86_400))
    throw new GatewayError('invalid_request', 'cache_ttl_seconds: must be a whole number from 1 to 86400', { path: 'cache_ttl_seconds' })
}
