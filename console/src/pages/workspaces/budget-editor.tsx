import { Checkbox, Fieldset, NumberInput, SimpleGrid, Stack } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../../api/client.ts'
import { useChange, useRead } from '../../api/hooks.ts'
import type { Workspace } from '../../api/schema.ts'
import { usd } from '../../lib/format.ts'
import { EditForm } from '../../ui/edit-form.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import {
  budgetBody,
  budgetFieldsOf,
  budgetSteps,
  byokStep,
  INTERVALS,
  spentOf,
  type BudgetFields,
  type BudgetStep,
  type Interval,
  type SpentSums,
} from './budgets.ts'

const LABELS: { readonly [I in Interval]: string } = { lifetime: 'Lifetime', monthly: 'Per month', weekly: 'Per week', daily: 'Per day' }
const OUTDATED = ['GET /api/v1/workspaces', 'GET /api/v1/workspaces/{id}/budgets', 'GET /api/v1/workspaces/{id}'] as const

export interface BudgetEditorProps {
  readonly of: Workspace
}

/** The budgets of a workspace: what all of its calls together may cost. */
export function BudgetEditor({ of: workspace }: BudgetEditorProps): ReactNode {
  const { id } = workspace
  const read = useRead('GET /api/v1/workspaces/{id}/budgets', { params: { id } })
  return (
    <Loaded of={read}>
      {({ data, include_byok_in_budgets: byok }) => <Editor id={id} saved={{ fields: budgetFieldsOf(data), byok }} spent={spentOf(workspace)} />}
    </Loaded>
  )
}

interface Budgets {
  readonly fields: BudgetFields
  readonly byok: boolean
}

interface Refused {
  readonly interval: Interval
  readonly error: Error
}

function useSteps(id: string): {
  readonly set: (step: BudgetStep, byokBefore: boolean, byokNow: boolean) => Promise<unknown>
  readonly busy: boolean
} {
  const put = useChange('PUT /api/v1/workspaces/{id}/budgets/{interval}', OUTDATED)
  const remove = useChange('DELETE /api/v1/workspaces/{id}/budgets/{interval}', OUTDATED)
  return {
    set: ({ interval, limit }, byokBefore, byokNow) =>
      limit === null
        ? remove.mutateAsync({ params: { id, interval } })
        : put.mutateAsync({ params: { id, interval }, body: budgetBody(limit, byokBefore, byokNow) }),
    busy: put.isPending || remove.isPending,
  }
}

function Editor({ id, saved, spent }: { readonly id: string; readonly saved: Budgets; readonly spent: SpentSums }): ReactNode {
  const [before, setBefore] = useState(saved)
  const [now, setNow] = useState(saved)
  const [refused, setRefused] = useState<Refused>()
  const { set, busy } = useSteps(id)
  const changed = budgetSteps(before.fields, now.fields)
  // The switch has no route of its own: it is sent with a budget, changed or not.
  const byokAlone = now.byok !== before.byok && !changed.some(({ limit }) => limit !== null) ? byokStep(now.fields) : undefined
  const steps = byokAlone === undefined ? changed : [...changed, byokAlone]
  const save = async (): Promise<void> => {
    setRefused(undefined)
    let held = before
    for (const step of steps) {
      try {
        await set(step, before.byok, now.byok)
      } catch (error) {
        setRefused({ interval: step.interval, error: error as Error })
        break
      }
      held = { fields: { ...held.fields, [step.interval]: step.limit ?? '' }, byok: step.limit === null ? held.byok : now.byok }
      setBefore(held)
    }
  }
  const isOfField = refused?.error instanceof ApiError && refused.error.path !== undefined
  return (
    <EditForm
      label="Budgets"
      action="Save budgets"
      busy={busy}
      problem={refused === undefined || isOfField ? null : refused.error}
      disabled={steps.length === 0}
      unsaved={steps.length > 0}
      onSubmit={() => void save()}
    >
      <Fieldset legend="Budgets in USD" p="sm">
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 2, xs: 4 }} spacing="sm">
            {INTERVALS.map((interval) => (
              <NumberInput
                key={interval}
                label={LABELS[interval]}
                description={`spent ${usd(spent[interval])}`}
                placeholder="no limit"
                value={now.fields[interval]}
                onChange={(limit) => setNow({ ...now, fields: { ...now.fields, [interval]: limit } })}
                error={isOfField && refused.interval === interval ? refused.error.message : undefined}
                allowNegative={false}
                prefix="$"
                thousandSeparator=","
                hideControls
              />
            ))}
          </SimpleGrid>
          <Checkbox
            label="Include calls paid with own provider keys"
            description={byokStep(now.fields) === undefined ? 'Where there is a budget.' : undefined}
            disabled={byokStep(now.fields) === undefined}
            checked={now.byok}
            onChange={(event) => setNow({ ...now, byok: event.currentTarget.checked })}
          />
        </Stack>
      </Fieldset>
    </EditForm>
  )
}
