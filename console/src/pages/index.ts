import { lazy, type ComponentType } from 'react'

export interface PageEntry {
  /** Below the console's own address, as the router matches it. */
  readonly path: string
  readonly label: string
  readonly View: ComponentType
}

/** Every page, in the order of the navigation: a new one is a folder and a line. */
export const PAGES: readonly PageEntry[] = [
  { path: '/', label: 'Overview', View: lazy(() => import('./overview/page.tsx')) },
  { path: '/generations', label: 'Generations', View: lazy(() => import('./generations/page.tsx')) },
  { path: '/playground', label: 'Playground', View: lazy(() => import('./playground/page.tsx')) },
  { path: '/destinations', label: 'Destinations', View: lazy(() => import('./destinations/page.tsx')) },
  { path: '/models', label: 'Models', View: lazy(() => import('./models/page.tsx')) },
  { path: '/keys', label: 'Keys', View: lazy(() => import('./keys/page.tsx')) },
  { path: '/workspaces', label: 'Workspaces', View: lazy(() => import('./workspaces/page.tsx')) },
  { path: '/provider-keys', label: 'Provider keys', View: lazy(() => import('./provider-keys/page.tsx')) },
  { path: '/guardrails', label: 'Guardrails', View: lazy(() => import('./guardrails/page.tsx')) },
  { path: '/presets', label: 'Presets', View: lazy(() => import('./presets/page.tsx')) },
]
