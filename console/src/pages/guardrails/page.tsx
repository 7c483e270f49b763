import type { ReactNode } from 'react'
import { Page } from '../../ui/page.tsx'

export default function GuardrailsPage(): ReactNode {
  return <Page title="Guardrails">{null}</Page>
}
