import { lazy, type ComponentType } from 'react'
import { NotLoaded } from '../ui/boundary.tsx'

export interface PageEntry {
  /** The path below the console's base, as the router matches it. */
  readonly path: string
  readonly label: string
  readonly View: ComponentType
}

const page = (load: () => Promise<{ readonly default: ComponentType }>): ComponentType =>
  lazy(() =>
    load().catch(() => {
      throw new NotLoaded()
    }),
  )

/** Every page, in the order of the navigation. A new one is a folder and a line here. */
export const PAGES: readonly PageEntry[] = [
  { path: '/', label: 'Overview', View: page(() => import('./overview/page.tsx')) },
  { path: '/generations', label: 'Generations', View: page(() => import('./generations/page.tsx')) },
  { path: '/playground', label: 'Playground', View: page(() => import('./playground/page.tsx')) },
  { path: '/destinations', label: 'Destinations', View: page(() => import('./destinations/page.tsx')) },
  { path: '/models', label: 'Models', View: page(() => import('./models/page.tsx')) },
  { path: '/keys', label: 'Keys', View: page(() => import('./keys/page.tsx')) },
  { path: '/workspaces', label: 'Workspaces', View: page(() => import('./workspaces/page.tsx')) },
  { path: '/provider-keys', label: 'Provider keys', View: page(() => import('./provider-keys/page.tsx')) },
  { path: '/guardrails', label: 'Guardrails', View: page(() => import('./guardrails/page.tsx')) },
  { path: '/presets', label: 'Presets', View: page(() => import('./presets/page.tsx')) },
]
