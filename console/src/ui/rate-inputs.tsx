import { Fieldset, NumberInput, SimpleGrid } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ApiError } from '../api/client.ts'
import { refusalAt, type RateFields } from '../lib/fields.ts'

export interface RateInputsProps {
  readonly value: RateFields
  readonly onChange: (next: RateFields) => void
  readonly error: ApiError | null
}

const FIELDS = [
  ['requests', 'Requests per minute', 'rate_limits.requests_per_minute'],
  ['tokens', 'Tokens per minute', 'rate_limits.tokens_per_minute'],
  ['concurrent', 'Concurrent requests', 'rate_limits.concurrent_requests'],
] as const

/** Rate limits of a key, or of all keys of a workspace. */
export function RateInputs({ value, onChange, error }: RateInputsProps): ReactNode {
  return (
    <Fieldset legend="Rate limits" variant="default" p="sm">
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        {FIELDS.map(([name, label, path]) => (
          <NumberInput
            key={name}
            label={label}
            placeholder="no limit"
            value={value[name]}
            onChange={(next) => onChange({ ...value, [name]: next })}
            error={refusalAt(error, path)}
            allowNegative={false}
            allowDecimal={false}
            thousandSeparator=","
            hideControls
          />
        ))}
      </SimpleGrid>
    </Fieldset>
  )
}
