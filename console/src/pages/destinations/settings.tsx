import { Alert, Stack } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange, useReadNow } from '../../api/hooks.ts'
import type { ObservabilityDestination } from '../../api/schema.ts'
import { afterSave } from '../../lib/changes.ts'
import { draftOfDestination, updateBody, type Draft } from './body.ts'
import type { DestinationWords } from './document.ts'
import { DestinationForm } from './form.tsx'

export interface SettingsProps {
  readonly destination: ObservabilityDestination
  readonly words: DestinationWords
}

const OUTDATED = [
  'GET /api/v1/observability/destinations',
  'GET /api/v1/observability/destinations/{id}',
  'GET /api/v1/observability/destinations/{id}/status',
] as const

/** Edits a destination. Changes are relative to what was read when editing began, so that changes by others are not undone. */
export function Settings({ destination, words }: SettingsProps): ReactNode {
  const fields = words.types.find(({ type }) => type === destination.type)?.fields ?? []
  const [before, setBefore] = useState(destination)
  const [draft, setDraft] = useState(() => draftOfDestination(destination, fields))
  const readNow = useReadNow()
  const update = useChange('PATCH /api/v1/observability/destinations/{id}', OUTDATED, async ({ params, body }) => {
    if (body?.config === undefined) return { params, body }
    // A map such as headers is replaced as a whole.
    const { data: now } = await readNow('GET /api/v1/observability/destinations/{id}', { params })
    return { params, body: updateBody(before, draft, fields, now).body }
  })
  const { body, problems } = updateBody(before, draft, fields)
  const isChanged = Object.keys(body).length > 0 || Object.keys(problems).length > 0
  const save = (): void =>
    update.mutate(
      { params: { id: before.id }, body },
      {
        onSuccess: ({ data }) => {
          setBefore(data)
          setDraft((now) => afterSave(draft, now, draftOfDestination(data, fields)))
        },
      },
    )
  const edit = (next: Draft): void => {
    if (update.isSuccess) update.reset()
    setDraft(next)
  }
  return (
    <Stack>
      <DestinationForm
        initial={draftOfDestination(before, fields)}
        draft={draft}
        onDraft={edit}
        fields={fields}
        words={words.rules}
        stored={before.config}
        problems={problems}
        refusal={update.error}
        submit="Save changes"
        busy={update.isPending}
        canSubmit={isChanged}
        onSubmit={save}
      />
      {update.isSuccess && (
        <output>
          <Alert color="teal">Saved. It takes effect within seconds.</Alert>
        </output>
      )}
    </Stack>
  )
}
