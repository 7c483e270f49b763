import { useState, type ReactNode } from 'react'
import { forgetInferenceKey, keepInferenceKey, storedInferenceKey } from '../../api/inference-key.ts'
import { Page } from '../../ui/page.tsx'
import { KeyGate } from './key-gate.tsx'
import { Workbench } from './workbench.tsx'

const ABOUT = 'Call a model and see everything the gateway knows about its answer.'

export default function PlaygroundPage(): ReactNode {
  const [key, setKey] = useState(() => storedInferenceKey(sessionStorage))
  const take = (next: string): void => {
    keepInferenceKey(sessionStorage, next)
    setKey(next)
  }
  const drop = (): void => {
    forgetInferenceKey(sessionStorage)
    setKey(undefined)
  }
  return (
    <Page title="Playground" about={ABOUT}>
      {key === undefined ? <KeyGate onKey={take} /> : <Workbench inferenceKey={key} onDropKey={drop} />}
    </Page>
  )
}
