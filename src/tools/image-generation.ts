import { z } from 'zod'
import type { Catalog, Model } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import { cutText } from '../lib/cut-text.ts'
import type { ServerTool, ToolContext, ToolResult } from '../core/extension.ts'
import type { JsonObject } from '../core/item.ts'
import { agentFailure, agentRequest, userMessage } from './shared/agent.ts'

const settings = z.looseObject({ model: z.string().optional() })
const parameters = z.object({
  prompt: z.string().min(1).max(32_000).describe('What the image shows, in detail: subject, style, composition, colours, text in it.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const ITEM = 'image_generation_call'
/** Fields of the vendors' own tool that have the same meaning for any image model. */
const NATIVE_FIELDS = ['model', 'size', 'quality', 'background', 'moderation', 'output_format', 'output_compression'] as const
/** All fields of that tool: its vendor refuses a call with any other. */
const HOSTED_FIELDS: ReadonlySet<string> = new Set([
  ...NATIVE_FIELDS,
  'action',
  'complexity',
  'frame_count',
  'frame_duration_ms',
  'input_fidelity',
  'input_image_mask',
  'partial_images',
  'svg',
])

export interface ImageGenerationOptions {
  readonly catalog: () => Catalog
  /** The operator's choice; without one, the first image model of the catalog. */
  readonly model: string | undefined
}

/** Makes an image with any image model of the catalog, routed by the gateway itself. */
export function createImageGeneration({ catalog, model }: ImageGenerationOptions): ServerTool<Settings, Arguments> {
  const chosen = (own: Settings): string | undefined => own.model ?? model ?? firstImageModel(catalog())
  /** A name without an author that no image model here has is a vendor's name for a model of its own tool. */
  const isVendors = ({ model: name }: Settings): boolean => name !== undefined && !name.includes('/') && !makesImages(catalog().find(name))
  return {
    name: 'image_generation',
    description: 'Makes an image from a description. The user sees it at once: do not describe how to get it, and add no link to it.',
    settings,
    parameters,
    timeoutMs: 300_000,
    spellings: { image_generation: ITEM },
    readNative: (tool) => Object.fromEntries(NATIVE_FIELDS.flatMap((field) => (tool[field] == null ? [] : [[field, tool[field]]]))),
    hosted(own) {
      const theirs = isVendors(own)
      if (own.model !== undefined && !theirs) return undefined
      const fields = Object.entries(own).filter(([field]) => HOSTED_FIELDS.has(field))
      // Settings that only image models know: if there is an image model, it makes the image.
      if (!theirs && fields.length < Object.keys(own).length && chosen(own) !== undefined) return undefined
      return { ...Object.fromEntries(fields), type: 'image_generation' }
    },
    available: (own) => chosen(own) !== undefined && !isVendors(own),
    check(own) {
      if (chosen(own) === undefined)
        throw new GatewayError(
          'invalid_request',
          'image_generation needs an image model: name one in "parameters.model", or have the operator set tools.image_generation.model',
        )
    },
    // Empty until there is an image, or if none is made: some clients refuse the whole answer, its text included, because of a null here.
    begin: (args) => ({ ...(args === undefined ? {} : { prompt: args.prompt }), result: '' }),
    execute: (args, context) => generate(args, context, chosen(context.settings)!),
    replay: (item) => ({
      arguments: JSON.stringify({ prompt: item['prompt'] ?? '' }),
      output: JSON.stringify({ status: hasPicture(item) ? 'ok' : 'error' }),
    }),
  }
}

/** Clients do not always keep the status, and some vendors leave a finished picture at `generating`. */
const hasPicture = ({ status, result }: JsonObject): boolean => status === 'completed' || (typeof result === 'string' && result !== '')

function firstImageModel(catalog: Catalog): string | undefined {
  return catalog.models().find(makesImages)?.slug
}

function makesImages(model: Model | undefined): boolean {
  return model?.endpoints.some(({ outputModalities }) => outputModalities.has('image')) === true
}

async function generate({ prompt }: Arguments, context: ToolContext<Settings>, model: string): Promise<ToolResult> {
  const { model: _, ...imageConfig } = context.settings
  context.emit('image_generation_call.in_progress')
  context.emit('image_generation_call.generating')
  try {
    const answer = await context.ask(
      agentRequest(context.call.request, {}, model, {
        input: [userMessage(prompt)],
        modalities: ['image', 'text'],
        ...(Object.keys(imageConfig).length === 0 ? {} : { image_config: imageConfig }),
      }),
    )
    const [image] = answer.images
    if (image === undefined)
      throw new GatewayError('refusal', answer.text === '' ? 'the model made no image' : `the model made no image: ${cutText(answer.text, 500)}`)
    context.emit('image_generation_call.completed')
    const output = JSON.stringify({ status: 'ok', model: answer.model, note: 'The image is part of the answer; the user sees it.' })
    return { output, item: { prompt, ...imageFields(image) } }
  } catch (error) {
    return agentFailure('The image', error, { prompt })
  }
}

/** The format that readers assume if a picture does not name its own. */
const USUAL = 'png'

function imageFields(image: string): JsonObject {
  const [, format = USUAL, data] = /^data:(?:image\/([\w.+-]{1,80}))?[^,]{0,200};base64,(.*)$/is.exec(image) ?? []
  if (data === undefined) return { imageUrl: image, result: image }
  return { imageB64: data, result: data, ...(format === USUAL ? {} : { output_format: format.toLowerCase() }) }
}
