import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function OverviewPage(): ReactNode {
  return <Page title="Overview">{null}</Page>
}
