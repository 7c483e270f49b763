import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function PresetsPage(): ReactNode {
  return <Page title="Presets">{null}</Page>
}
