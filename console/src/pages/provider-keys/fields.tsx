import { Checkbox, Fieldset, Stack, TagsInput, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiError } from '../../api/client.ts'
import { refusalAt } from '../../lib/fields.ts'
import { KeyPicker } from '../../ui/key-picker.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { LINE, SEPARATORS } from '../../ui/separators.ts'
import type { ProviderKeyForm } from './form.ts'

/** Fields that show errors themselves. */
export const PROVIDER_KEY_PATHS = ['name', 'key', 'allowed_models', 'allowed_api_key_hashes', 'allowed_user_ids'] as const

export interface ProviderKeyFieldsProps {
  readonly form: ProviderKeyForm
  readonly onChange: (next: Partial<ProviderKeyForm>) => void
  readonly error: ApiError | null
  readonly workspaceId: string
  /** A key is stored already, and stays unless another is typed. */
  readonly isStored: boolean
}

export function ProviderKeyFields({ form, onChange, error, workspaceId, isStored }: ProviderKeyFieldsProps): ReactNode {
  return (
    <>
      <SecretInput
        label={isStored ? 'New key' : 'Key'}
        description={
          isStored
            ? 'Leave empty to keep the stored key.'
            : 'Stored encrypted and never shown again. You can also paste the JSON file of a cloud account.'
        }
        value={form.secret}
        onChange={(event) => onChange({ secret: event.currentTarget.value })}
        error={refusalAt(error, 'key')}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
        required={!isStored}
      />
      <TextInput
        label="Name"
        placeholder="none"
        value={form.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={refusalAt(error, 'name')}
        autoComplete="off"
      />
      <Checkbox
        label="Only as a fallback"
        description="Tried after the gateway's own credentials instead of before them."
        checked={form.fallback}
        onChange={(event) => onChange({ fallback: event.currentTarget.checked })}
      />
      <Fieldset legend="Who may use it" p="sm">
        <Stack gap="sm">
          <TagsInput
            label="Models"
            description="Slugs, with * for any characters. Press Enter after each."
            placeholder={form.models.length === 0 ? 'all models' : undefined}
            value={[...form.models]}
            onChange={(models) => onChange({ models })}
            error={refusalAt(error, 'allowed_models')}
            splitChars={SEPARATORS}
            acceptValueOnBlur
            clearable
          />
          <KeyPicker
            label="Keys"
            description="Inference keys of the workspace."
            workspaceId={workspaceId}
            value={form.keys}
            onChange={(keys) => onChange({ keys })}
            error={refusalAt(error, 'allowed_api_key_hashes')}
          />
          <TagsInput
            label="Users"
            description="User ids as calls give them. Press Enter after each."
            placeholder={form.users.length === 0 ? 'all users' : undefined}
            value={[...form.users]}
            onChange={(users) => onChange({ users })}
            error={refusalAt(error, 'allowed_user_ids')}
            // Ids from directories contain commas: uid=anna,ou=people.
            splitChars={[LINE]}
            // The gateway tells `Anna` from `anna`, which the library does not.
            isDuplicate={(id, users) => users.includes(id)}
            acceptValueOnBlur
            clearable
          />
        </Stack>
      </Fieldset>
    </>
  )
}
