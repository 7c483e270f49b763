import type { Config } from './core/config.ts'
import type { Catalog } from './core/endpoint.ts'
import type { ServerTool } from './core/extension.ts'
import { createEgress, type Egress } from './lib/egress.ts'
import type { LoopLimits } from './pipeline/tool-stop.ts'
import { createTools } from './tools/index.ts'
import { VERSION } from './version.ts'

export interface Tooling {
  readonly tools: () => readonly ServerTool[]
  readonly toolLimits: () => LoopLimits
  /** Makes the tools of another configuration; calls in flight keep theirs. */
  reload(config: Config): void
  close(): Promise<void>
}

export interface ToolingOptions {
  readonly config: Config
  readonly env: { readonly [name: string]: string | undefined }
  readonly catalog: () => Catalog
}

/** The tools the gateway runs itself, with their two ways out. */
export function openTooling(options: ToolingOptions): Tooling {
  const { env, catalog } = options
  const open: Egress[] = []
  const build = (config: Config): readonly ServerTool[] => {
    const userAgent = `signalbox/${VERSION}`
    const egress = createEgress({ allowPrivate: config.network.allowPrivate.tools, allowHttp: true, userAgent })
    const operatorEgress = createEgress({ allowPrivate: true, allowHttp: true, userAgent })
    open.push(egress, operatorEgress)
    return createTools({ config: config.tools, env, catalog, egress, operatorEgress })
  }
  let config = options.config
  let tools = build(config)
  return {
    tools: () => tools,
    toolLimits: () => config.tools.limits,
    reload(next) {
      config = next
      tools = build(next)
    },
    async close() {
      await Promise.all(open.map((egress) => egress.close()))
    },
  }
}
