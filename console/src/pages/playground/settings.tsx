import { Group, JsonInput, Paper, Select, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { SEPARATORS } from '../../ui/separators.ts'
import type { Problems, Settings } from './body.ts'
import classes from './playground.module.css'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export interface SettingsFormProps {
  readonly settings: Settings
  readonly problems: Problems
  /** Slugs to choose from; any other text is accepted as well. */
  readonly models: readonly string[]
  readonly onChange: (change: Partial<Settings>) => void
}

/** All parts of a request except its model and its messages. */
export function SettingsForm({ settings, problems, models, onChange }: SettingsFormProps): ReactNode {
  return (
    <Paper withBorder p="md" component="section" aria-label="Settings of the request">
      <Stack gap="sm">
        <Textarea
          label="Instructions"
          autosize
          minRows={2}
          maxRows={10}
          value={settings.instructions}
          error={problems.instructions}
          onChange={(event) => onChange({ instructions: event.currentTarget.value })}
        />
        <Group grow align="flex-start">
          <TextInput
            label="Temperature"
            inputMode="decimal"
            placeholder="the model's"
            value={settings.temperature}
            error={problems.temperature}
            onChange={(event) => onChange({ temperature: event.currentTarget.value })}
          />
          <TextInput
            label="Max tokens"
            inputMode="numeric"
            placeholder="the model's"
            value={settings.maxOutputTokens}
            error={problems.maxOutputTokens}
            onChange={(event) => onChange({ maxOutputTokens: event.currentTarget.value })}
          />
        </Group>
        <Select
          label="Reasoning effort"
          placeholder="the model's"
          data={EFFORTS}
          clearable
          value={settings.effort === '' ? null : settings.effort}
          error={problems.effort}
          onChange={(effort) => onChange({ effort: effort ?? '' })}
        />
        <TagsInput
          label="Fallbacks"
          description="Models to try if the first one fails"
          data={[...models]}
          limit={50}
          value={[...settings.models]}
          splitChars={SEPARATORS}
          error={problems.models}
          onChange={(next) => onChange({ models: next })}
        />
        <Json
          label="Provider preferences"
          placeholder='{"ignore": ["name"], "sort": "price"}'
          value={settings.provider}
          error={problems.provider}
          onChange={(provider) => onChange({ provider })}
        />
        <Json
          label="Tools"
          placeholder='[{"type": "gateway:datetime"}]'
          value={settings.tools}
          error={problems.tools}
          onChange={(tools) => onChange({ tools })}
        />
        <Switch label="Stream the answer" checked={settings.stream} onChange={(event) => onChange({ stream: event.currentTarget.checked })} />
      </Stack>
    </Paper>
  )
}

interface JsonProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (text: string) => void
}

function Json({ label, placeholder, value, error, onChange }: JsonProps): ReactNode {
  return (
    <JsonInput
      label={`${label} (JSON)`}
      placeholder={placeholder}
      formatOnBlur
      autosize
      minRows={2}
      maxRows={14}
      className={classes['json']}
      value={value}
      error={error}
      onChange={onChange}
    />
  )
}
