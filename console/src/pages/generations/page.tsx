import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function GenerationsPage(): ReactNode {
  return <Page title="Generations">{null}</Page>
}
