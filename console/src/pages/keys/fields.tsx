import { Checkbox, Group, NumberInput, Select, TextInput } from '@mantine/core'
import { useRef, useState, type ReactNode, type RefObject } from 'react'
import type { ApiError } from '../../api/client.ts'
import { refusalAt } from '../../lib/fields.ts'
import { RateInputs } from '../../ui/rate-inputs.tsx'
import { isTime, type KeyForm, type Reset } from './form.ts'

const RESETS: readonly { readonly value: Reset; readonly label: string }[] = [
  { value: 'never', label: 'never' },
  { value: 'daily', label: 'every day (UTC)' },
  { value: 'weekly', label: 'every Monday (UTC)' },
  { value: 'monthly', label: 'on the 1st (UTC)' },
]

/** Fields of `KeyFields` that show errors themselves. */
export const KEY_PATHS = ['name', 'limit', 'limit_reset', 'include_byok_in_limit', 'rate_limits', 'expires_at'] as const

/** Of the date field: a date without a time reads as empty, which would be a key that never expires. */
export interface Expiry {
  readonly input: RefObject<HTMLInputElement | null>
  readonly isHalfTyped: boolean
  /** To be asked before the form is sent; if it is false, the field says why. */
  readonly isComplete: (expires: string) => boolean
}

export function useExpiry(): Expiry {
  const input = useRef<HTMLInputElement>(null)
  const [isHalfTyped, setHalfTyped] = useState(false)
  const isComplete = (expires: string): boolean => {
    const isHalf = input.current?.validity.badInput === true || (expires !== '' && !isTime(expires))
    setHalfTyped(isHalf)
    if (isHalf) input.current?.focus()
    return !isHalf
  }
  return { input, isHalfTyped, isComplete }
}

export interface KeyFieldsProps {
  readonly form: KeyForm
  readonly onChange: (next: Partial<KeyForm>) => void
  readonly error: ApiError | null
  readonly expiry: Expiry
}

/** The fields for new and existing keys. */
export function KeyFields({ form, onChange, error, expiry: { input, isHalfTyped } }: KeyFieldsProps): ReactNode {
  return (
    <>
      <TextInput
        label="Name"
        value={form.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={refusalAt(error, 'name')}
        maxLength={256}
        autoComplete="off"
        required
        data-autofocus
      />
      <Group grow align="flex-start" gap="sm">
        <NumberInput
          label="Limit in USD"
          placeholder="no limit"
          value={form.limit}
          onChange={(limit) => onChange({ limit })}
          error={refusalAt(error, 'limit')}
          allowNegative={false}
          prefix="$"
          thousandSeparator=","
          hideControls
        />
        <Select
          label="Resets"
          data={RESETS}
          value={form.reset}
          onChange={(reset) => onChange({ reset: reset ?? 'never' })}
          error={refusalAt(error, 'limit_reset')}
          allowDeselect={false}
        />
      </Group>
      <Checkbox
        label="Include calls paid with own provider keys"
        checked={form.includeByok}
        onChange={(event) => onChange({ includeByok: event.currentTarget.checked })}
        error={refusalAt(error, 'include_byok_in_limit')}
      />
      <RateInputs value={form.rates} onChange={(rates) => onChange({ rates })} error={error} />
      <TextInput
        ref={input}
        type="datetime-local"
        label="Expires"
        description="In your time zone. Leave empty for never."
        value={form.expires}
        onChange={(event) => onChange({ expires: event.currentTarget.value })}
        error={isHalfTyped ? 'Enter a date and a time.' : refusalAt(error, 'expires_at')}
      />
    </>
  )
}
