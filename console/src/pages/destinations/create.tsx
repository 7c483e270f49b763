import { Select, Stack } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useChange } from '../../api/hooks.ts'
import { createBody, emptyDraft } from './body.ts'
import type { DestinationWords } from './document.ts'
import { DestinationForm } from './form.tsx'
import { problemAt, refusedFields } from './problems.ts'
import { valuesOf } from './values.ts'

export interface CreateDestinationProps {
  readonly words: DestinationWords
  /** The preselected workspace; undefined: the key's own. */
  readonly workspace: string | undefined
  readonly onCreated: (id: string) => void
}

export function CreateDestination({ words, workspace, onCreated }: CreateDestinationProps): ReactNode {
  const [type, setType] = useState<string>()
  const fields = words.types.find((one) => one.type === type)?.fields ?? []
  const [draft, setDraft] = useState(() => ({ ...emptyDraft([]), workspace }))
  const create = useChange('POST /api/v1/observability/destinations', ['GET /api/v1/observability/destinations'])
  const { body, problems } = createBody(type ?? '', draft, fields)
  const choose = (chosen: string | null): void => {
    if (chosen === null) return
    setType(chosen)
    create.reset()
    // The settings of one type mean nothing to another; everything else is kept.
    setDraft({ ...draft, values: valuesOf(words.types.find((one) => one.type === chosen)?.fields ?? []) })
  }
  return (
    // The choice of the type stays the same element, so that it keeps the focus.
    <Stack>
      <Select
        label="Type"
        description="The platform that receives the generations."
        placeholder="Choose a platform"
        withAsterisk
        searchable
        allowDeselect={false}
        data={words.types.map((one) => ({ value: one.type, label: one.label }))}
        value={type ?? null}
        error={problemAt(refusedFields(create.error), 'type')}
        onChange={choose}
        data-autofocus
      />
      {type !== undefined && (
        <DestinationForm
          // Problems shown so far belong to the previous type.
          key={type}
          initial={{ ...emptyDraft(fields), workspace }}
          draft={draft}
          onDraft={setDraft}
          fields={fields}
          words={words.rules}
          problems={problems}
          refusal={create.error}
          submit="Create destination"
          busy={create.isPending}
          onSubmit={() => create.mutate({ body }, { onSuccess: ({ data }) => onCreated(data.id) })}
        />
      )}
    </Stack>
  )
}
