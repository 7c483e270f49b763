import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function DestinationsPage(): ReactNode {
  return <Page title="Destinations">{null}</Page>
}
