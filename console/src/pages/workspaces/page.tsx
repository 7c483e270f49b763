import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function WorkspacesPage(): ReactNode {
  return <Page title="Workspaces">{null}</Page>
}
