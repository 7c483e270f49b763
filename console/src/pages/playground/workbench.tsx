import { Grid, Paper, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { Problem } from '../../ui/problem.tsx'
import { bodyOf, historyOf, itemsOf, keptOf, messageOf, openCalls, userMessage, type Body, type Problems, type Settings } from './body.ts'
import { CodeDialog } from './code-dialog.tsx'
import { Composer } from './composer.tsx'
import { ModelField } from './model-field.tsx'
import { PlanDialog } from './plan.tsx'
import { RawBody } from './raw-body.tsx'
import { refusedField } from './refused-field.ts'
import type { Item } from './run.ts'
import { SettingsForm } from './settings.tsx'
import { Toolbar } from './toolbar.tsx'
import { Transcript } from './transcript.tsx'
import { useConversation, type Conversation } from './use-conversation.ts'
import { useForm } from './use-form.ts'
import { useKept } from './use-kept.ts'

export interface WorkbenchProps {
  readonly inferenceKey: string
  readonly onDropKey: () => void
}

/** The conversation, the next request, and two dialogs about it. */
export function Workbench({ inferenceKey, onDropKey }: WorkbenchProps): ReactNode {
  const [spent, setSpent] = useState(0)
  const [planned, setPlanned] = useState<Body>()
  const [coded, setCoded] = useState<Body>()
  const [text, changeText] = useKept('text', '')
  const [raw, changeRaw] = useKept<string | null>('raw', null)
  const [isRaw, changeIsRaw] = useKept('isRaw', false)
  const setText = (next: string): void => changeText(() => next)
  const form = useForm()
  const conversation = useConversation(inferenceKey, (turn) => {
    setSpent((times) => times + 1)
    // A turn without an answer is not part of the conversation: its text returns to the input, to be changed and sent again.
    if (!turn.isWhole && keptOf(turn).length === 0) changeText((now) => (now === '' ? messageOf(turn.input) : now))
  })
  const { turns, isBusy, ask, stop, forget } = conversation
  const refill = (): void => {
    const { body } = bodyOf(form.settings, [...historyOf(turns), ...(text === '' ? [] : [userMessage(text)])])
    changeRaw(() => JSON.stringify(body, null, 2))
  }
  const dialogs = { onPlan: setPlanned, onCode: setCoded }
  const transcript = turns.length === 0 ? <Nothing /> : <Transcript turns={turns} {...dialogs} />
  return (
    <Stack gap="md">
      <Toolbar
        inferenceKey={inferenceKey}
        spent={spent}
        onDropKey={onDropKey}
        onForget={turns.length > 0 ? forget : undefined}
        isBusy={isBusy}
        isRaw={isRaw}
        onRaw={(next) => {
          changeIsRaw(() => next)
          if (next && raw === null) refill()
        }}
      />
      {isRaw ? (
        <>
          {transcript}
          <RawBody
            text={raw ?? ''}
            onText={(next) => changeRaw(() => next)}
            onRefill={refill}
            isBusy={isBusy}
            onSend={(body) => ask(body, itemsOf(body), true)}
            onStop={stop}
            {...dialogs}
          />
        </>
      ) : (
        <FormBench form={form} conversation={conversation} text={text} onText={setText} {...dialogs}>
          {transcript}
        </FormBench>
      )}
      <PlanDialog body={planned} inferenceKey={inferenceKey} onClose={() => setPlanned(undefined)} />
      <CodeDialog body={coded} onClose={() => setCoded(undefined)} />
    </Stack>
  )
}

interface FormBenchProps {
  readonly form: ReturnType<typeof useForm>
  readonly conversation: Conversation
  readonly text: string
  readonly onText: (text: string) => void
  readonly onPlan: (body: Body) => void
  readonly onCode: (body: Body) => void
  /** The rendered conversation. */
  readonly children: ReactNode
}

/** The request as a form: model and messages in the middle, everything else next to them. */
function FormBench({ form, conversation, text, onText, onPlan, onCode, children }: FormBenchProps): ReactNode {
  const models = useRead('GET /api/v1/models', {})
  const [changedAfter, setChangedAfter] = useState(0)
  const { turns, isBusy, ask, stop } = conversation
  const { settings } = form
  const last = turns.at(-1)
  // The gateway's error stays next to its field until something is changed.
  const refused = last !== undefined && last.id !== changedAfter ? refusedField(last.run) : {}
  const { problems } = bodyOf(settings, [])
  const shown: Problems = { ...problems, model: form.isTried ? problems.model : undefined, ...refused }
  const change = (next: Partial<Settings>): void => {
    setChangedAfter(last?.id ?? 0)
    form.change(next)
  }
  const withBody =
    (use: (body: Body, input: readonly Item[]) => void) =>
    (input: readonly Item[]): void => {
      form.setTried(true)
      const made = bodyOf(settings, [...historyOf(turns), ...input])
      if (Object.keys(made.problems).length === 0) use(made.body, input)
    }
  const send = withBody((body, input) => {
    onText('')
    ask(body, input, false)
  })
  const list = models.data?.data ?? []
  return (
    <>
      <Problem error={models.error} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <ModelField
              models={list}
              value={settings.model}
              error={shown.model}
              onChange={(model) => change({ model })}
              onSettled={form.settleModel}
            />
            {children}
            <Composer
              calls={openCalls(turns)}
              text={text}
              onText={onText}
              isBusy={isBusy}
              onSend={send}
              onStop={stop}
              onPlan={withBody(onPlan)}
              onCode={withBody(onCode)}
            />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <SettingsForm settings={settings} problems={shown} models={[...new Set(list.map(({ id }) => id))]} onChange={change} />
        </Grid.Col>
      </Grid>
    </>
  )
}

function Nothing(): ReactNode {
  return (
    <Paper withBorder p="xl">
      <Text c="dimmed" ta="center" size="sm">
        Choose a model, write a message, and send it. “Plan” shows which endpoints would be called, without calling them.
      </Text>
    </Paper>
  )
}
