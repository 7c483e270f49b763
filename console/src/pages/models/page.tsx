import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function ModelsPage(): ReactNode {
  return <Page title="Models">{null}</Page>
}
