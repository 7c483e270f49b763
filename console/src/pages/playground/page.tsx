import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function PlaygroundPage(): ReactNode {
  return <Page title="Playground">{null}</Page>
}
