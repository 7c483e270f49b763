import { Textarea } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiError } from '../../api/client.ts'
import { refusalAt } from '../../lib/fields.ts'
import { parseConfig, refusalOfConfig, type ContentForm } from './form.ts'

export interface ContentFieldsProps {
  readonly form: ContentForm
  readonly onChange: (next: Partial<ContentForm>) => void
  readonly error: ApiError | null
}

/** The content of a version. */
export function ContentFields({ form, onChange, error }: ContentFieldsProps): ReactNode {
  return (
    <>
      <Textarea
        label="System prompt"
        placeholder="none"
        value={form.prompt}
        onChange={(event) => onChange({ prompt: event.currentTarget.value })}
        error={refusalAt(error, 'system_prompt')}
        autosize
        minRows={3}
        maxRows={14}
      />
      <Textarea
        label="Configuration"
        description="Fields of a request as JSON: model, temperature, tools, provider. Tool credentials are shown as ***; enter them again when you change the configuration."
        value={form.config}
        onChange={(event) => onChange({ config: event.currentTarget.value })}
        error={parseConfig(form.config).problem ?? refusalOfConfig(error)}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 'var(--mantine-font-size-xs)' } }}
        spellCheck={false}
        autosize
        minRows={5}
        maxRows={20}
      />
    </>
  )
}
