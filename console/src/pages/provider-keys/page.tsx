import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function ProviderKeysPage(): ReactNode {
  return <Page title="ProviderKeys">{null}</Page>
}
