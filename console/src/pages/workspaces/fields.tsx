import { Checkbox, Fieldset, NumberInput, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiError } from '../../api/client.ts'
import { refusalAt } from '../../lib/fields.ts'
import { KeyPicker } from '../../ui/key-picker.tsx'
import { RateInputs } from '../../ui/rate-inputs.tsx'
import type { Sort, WorkspaceForm } from './form.ts'

const SORTS: readonly { readonly value: Sort; readonly label: string }[] = [
  { value: 'price', label: 'price: the cheapest first' },
  { value: 'throughput', label: 'throughput: the most tokens per second first' },
  { value: 'latency', label: 'latency: the fastest first token first' },
  { value: 'exacto', label: 'exacto: the most exact first' },
]

/** Fields that show errors themselves. */
export const WORKSPACE_PATHS = [
  'name',
  'slug',
  'description',
  'default_text_model',
  'default_image_model',
  'default_provider_sort',
  'io_logging_api_key_ids',
  'io_logging_sampling_rate',
  'rate_limits',
] as const

export interface WorkspaceFieldsProps {
  readonly form: WorkspaceForm
  readonly onChange: (next: Partial<WorkspaceForm>) => void
  readonly error: ApiError | null
  /** Undefined for a new workspace, which has no keys yet. */
  readonly workspaceId: string | undefined
}

export function WorkspaceFields(props: WorkspaceFieldsProps): ReactNode {
  const { form, onChange, error } = props
  return (
    <>
      <TextInput
        label="Name"
        value={form.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={refusalAt(error, 'name')}
        autoComplete="off"
        required
        data-autofocus
      />
      <TextInput
        label="Slug"
        description="Identifies the workspace in URLs: lower-case letters, digits and single dashes."
        value={form.slug}
        onChange={(event) => onChange({ slug: event.currentTarget.value })}
        error={refusalAt(error, 'slug')}
        autoComplete="off"
        required
      />
      <Textarea
        label="Description"
        value={form.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        error={refusalAt(error, 'description')}
        autosize
        minRows={1}
        maxRows={5}
      />
      <Defaults {...props} />
      <Keeping {...props} />
      <RateInputs value={form.rates} onChange={(rates) => onChange({ rates })} error={error} />
    </>
  )
}

function Defaults({ form, onChange, error }: WorkspaceFieldsProps): ReactNode {
  return (
    <Fieldset legend="Defaults for calls" p="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Text model"
          placeholder="none"
          value={form.textModel}
          onChange={(event) => onChange({ textModel: event.currentTarget.value })}
          error={refusalAt(error, 'default_text_model')}
        />
        <TextInput
          label="Image model"
          placeholder="none"
          value={form.imageModel}
          onChange={(event) => onChange({ imageModel: event.currentTarget.value })}
          error={refusalAt(error, 'default_image_model')}
        />
      </SimpleGrid>
      <Select
        mt="sm"
        label="Provider order"
        placeholder="balanced by price"
        data={SORTS}
        value={form.sort === '' ? null : form.sort}
        onChange={(sort) => onChange({ sort: sort ?? '' })}
        error={refusalAt(error, 'default_provider_sort')}
        clearable
      />
    </Fieldset>
  )
}

function Keeping({ form, onChange, error, workspaceId }: WorkspaceFieldsProps): ReactNode {
  const keep = (chosen: readonly string[]): void =>
    // Numbers come from a hosted service and stay numbers.
    onChange({ loggedKeys: chosen.map((one) => form.loggedKeys.find((before) => String(before) === one) ?? one) })
  return (
    <Fieldset legend="Storage and forwarding" p="sm">
      <Stack gap="sm">
        <Checkbox label="Store prompts and answers" checked={form.logs} onChange={(event) => onChange({ logs: event.currentTarget.checked })} />
        {form.logs && (
          <>
            <NumberInput
              label="Share of sessions to store"
              value={form.sampling}
              onChange={(sampling) => onChange({ sampling })}
              error={refusalAt(error, 'io_logging_sampling_rate')}
              suffix=" %"
              allowNegative={false}
              hideControls
            />
            {workspaceId !== undefined && (
              <KeyPicker
                label="Only of these keys"
                description="Leave empty for all keys."
                workspaceId={workspaceId}
                value={form.loggedKeys.map(String)}
                onChange={keep}
                error={refusalAt(error, 'io_logging_api_key_ids')}
              />
            )}
          </>
        )}
        <Checkbox
          label="Forward calls to destinations"
          checked={form.broadcasts}
          onChange={(event) => onChange({ broadcasts: event.currentTarget.checked })}
        />
        <Checkbox
          label="Data discount logging"
          description="Kept for clients that set it; it has no effect here."
          checked={form.discount}
          onChange={(event) => onChange({ discount: event.currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  )
}
