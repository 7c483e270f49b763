import { Alert, Anchor, Badge, Group, Loader, Stack, Text } from '@mantine/core'
import { useMemo, type ReactNode } from 'react'
import { Disclosure, Pre } from './disclosure.tsx'
import { viewOf, type PartView, type StepView } from './items.ts'
import classes from './playground.module.css'
import { isOver, type Failure, type Item, type Phase, type Run } from './run.ts'

/** An answer as it streams. */
export function Answer({ run }: { readonly run: Run }): ReactNode {
  return (
    <Stack gap="xs">
      {run.items.map((item, index) => (
        // Items keep their position in the answer.
        <ItemShown key={index} item={item} isLive={!isOver(run) && index === run.items.length - 1} />
      ))}
      {!isOver(run) && (
        <Group gap="xs">
          <Loader size={14} aria-hidden />
          <Text size="sm" c="dimmed">
            {run.phase === 'waiting' ? 'Waiting for the answer' : 'Answering'}
          </Text>
        </Group>
      )}
      <End run={run} />
    </Stack>
  )
}

function ItemShown({ item, isLive }: { readonly item: Item; readonly isLive: boolean }): ReactNode {
  const view = useMemo(() => viewOf(item), [item])
  if (view.kind === 'step') return <Step view={view} />
  if (view.kind === 'reasoning') {
    if (view.text === '' && !view.isSealed) return null
    return (
      <Disclosure summary={isLive ? 'Reasoning …' : 'Reasoning'}>
        {view.text !== '' && <Pre label="Reasoning">{view.text}</Pre>}
        {view.isSealed && (
          <Text size="sm" c="dimmed">
            {view.text === '' ? 'The model encrypted its reasoning. It is sent back unchanged.' : 'An encrypted copy is sent back with it.'}
          </Text>
        )}
      </Disclosure>
    )
  }
  // Parts never change their order.
  return view.parts.map((part, index) => <Part key={index} part={part} />)
}

function Part({ part }: { readonly part: PartView }): ReactNode {
  return (
    <Stack gap={6}>
      {part.kind === 'refusal' ? (
        <Alert color="yellow" title="The model refused">
          <p className={classes['text']}>{part.text}</p>
        </Alert>
      ) : (
        <p className={classes['text']}>{part.text}</p>
      )}
      <Media {...part} />
      {part.annotations.length > 0 && (
        <Stack component="ol" gap={2} m={0} pl="lg" aria-label="Sources">
          {part.annotations.map(({ text, url }, index) => (
            <Text component="li" size="sm" key={index} style={{ overflowWrap: 'anywhere' }}>
              {url === undefined ? text : <Outside url={url}>{text}</Outside>}
            </Text>
          ))}
        </Stack>
      )}
    </Stack>
  )
}

function Step({ view }: { readonly view: StepView }): ReactNode {
  const { title, type, status, fields } = view
  return (
    <Stack gap={6}>
      <Disclosure
        isOpen
        summary={
          <Group component="span" gap={8} display="inline-flex" style={{ verticalAlign: 'middle' }}>
            <Text component="span" size="sm" fw={600} c="bright">
              {title}
            </Text>
            {title !== type && (
              <Text component="span" size="xs">
                {type}
              </Text>
            )}
            {status !== undefined && (
              <Badge component="span" size="xs" variant="light" color={status === 'completed' ? 'gray' : status === 'failed' ? 'red' : 'blue'}>
                {status}
              </Badge>
            )}
          </Group>
        }
      >
        <Stack gap={6}>
          {fields.length === 0 && (
            <Text size="sm" c="dimmed">
              There are no details.
            </Text>
          )}
          {fields.map(([name, text]) => (
            <div key={name}>
              <Text size="xs" c="dimmed">
                {name}
              </Text>
              <Pre label={`${name} of ${title}`}>{text}</Pre>
            </div>
          ))}
        </Stack>
      </Disclosure>
      <Media {...view} />
    </Stack>
  )
}

/** Images within the answer are shown; external ones are listed but not loaded. */
function Media({ images, links }: Pick<StepView, 'images' | 'links'>): ReactNode {
  return (
    <>
      {images.map((image) => (
        <img key={image.slice(0, 200)} className={classes['image']} src={image} alt="Made by the model" />
      ))}
      {links.map((link) => (
        <Text size="sm" key={link} style={{ overflowWrap: 'anywhere' }}>
          <Outside url={link}>{link}</Outside>
        </Text>
      ))}
    </>
  )
}

function Outside({ url, children }: { readonly url: string; readonly children: ReactNode }): ReactNode {
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer" inherit>
      {children}
    </Anchor>
  )
}

const TITLES: { readonly [phase in Phase]?: string } = {
  refused: 'No answer',
  failed: 'The answer failed',
  broken: 'The connection broke',
}

function End({ run: { phase, failure, reason } }: { readonly run: Run }): ReactNode {
  if (phase === 'stopped') return <Alert color="gray">You stopped it. The partial answer is kept.</Alert>
  if (phase === 'incomplete') return <Alert color="yellow">The answer is incomplete: {reason ?? 'no reason given'}.</Alert>
  const title = TITLES[phase]
  return title === undefined || failure === undefined ? null : <Failed title={title} failure={failure} />
}

function Failed({ title, failure: { message, code, errorType, path, details } }: { readonly title: string; readonly failure: Failure }): ReactNode {
  const facts = [code, errorType, path === undefined ? undefined : `at ${path}`].filter((fact) => fact !== undefined)
  return (
    <Alert color="red" role="alert" title={title}>
      <Stack gap={4}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        {facts.length > 0 && (
          <Text size="xs" c="dimmed">
            {facts.join(' · ')}
          </Text>
        )}
        {details !== undefined && (
          <Disclosure summary="Routing details">
            <Pre label="Details">{JSON.stringify(details, null, 2)}</Pre>
          </Disclosure>
        )}
      </Stack>
    </Alert>
  )
}
