import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { createContext, useContext, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { dialogsAtKey } from './dialogs-at-key.ts'
import { beforeSteps } from './steps-back.ts'

/** What a panel knows about its forms. */
interface Forms {
  readonly tell: (form: string, isUnsaved: boolean) => void
  readonly ask: (go: () => void) => void
  readonly done: () => void
}

const PanelForms = createContext<Forms | undefined>(undefined)

/** Unsaved forms, by the panel they are in. */
const openPanels = new Set<ReadonlySet<string>>()

/** Whether any open panel has unsaved input. */
export const isAnythingUnsaved = (): boolean => [...openPanels].some(({ size }) => size > 0)

interface Guard {
  /** Closes the panel, after asking if something would be lost. */
  readonly close: () => void
  /** Replaces the panel's own handling of Escape: it only closes what is on top. */
  readonly onKeyDown: (event: KeyboardEvent) => void
  /** Must wrap the content of the panel. */
  readonly around: (children: ReactNode) => ReactNode
}

/**
 * Protects input in a panel: every way out of it (a click outside, Escape, the close button, going back, closing the tab) asks first if a form in it is
 * unsaved.
 */
export function useGuard(opened: boolean, onClose: () => void): Guard {
  const [unsaved] = useState(() => new Set<string>())
  const [going, setGoing] = useState<{ readonly go: () => void }>()
  const isDone = useRef(false)
  const [, drawAgain] = useState(0)
  const forms = useMemo<Forms>(
    () => ({
      tell: (form, isUnsaved) => void (isUnsaved ? unsaved.add(form) : unsaved.delete(form)),
      ask: (go) => (unsaved.size > 0 ? setGoing({ go }) : go()),
      done: () => {
        isDone.current = true
        drawAgain((times) => times + 1)
      },
    }),
    [unsaved],
  )
  useEffect(() => {
    // By now the forms have reported whether the save left anything unsaved.
    if (isDone.current && unsaved.size === 0) onClose()
    isDone.current = false
  })
  useNavigationGuards(opened, unsaved, forms)
  useEscapeFromNowhere(opened, forms, onClose)
  const stay = (): void => setGoing(undefined)
  const leave = (): void => {
    unsaved.clear()
    stay()
    going?.go()
  }
  const close = (): void => forms.ask(onClose)
  const onKeyDown = (event: KeyboardEvent): void => {
    const { currentTarget, target } = event
    // The question's events bubble through here, but it is not within this element. An open list of choices marks Escape as its own.
    const isHere = target instanceof Element && currentTarget.contains(target) && target.getAttribute('data-mantine-stop-propagation') !== 'true'
    if (event.key === 'Escape' && isHere) close()
  }
  return {
    close,
    onKeyDown,
    around: (children) => (
      <PanelForms value={forms}>
        {children}
        <Question asked={going !== undefined} onStay={stay} onLeave={leave} />
      </PanelForms>
    ),
  }
}

/** Ways out that bypass the panel. */
function useNavigationGuards(opened: boolean, unsaved: ReadonlySet<string>, { ask }: Forms): void {
  const address = useRef('')
  useEffect(() => {
    address.current = location.href
  })
  useEffect(() => {
    if (!opened) return undefined
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (unsaved.size > 0) event.preventDefault()
    }
    // The event comes after the step, so the step is reverted before any other listener sees it.
    const onStep = (event: PopStateEvent): void => {
      if (unsaved.size === 0) return
      event.stopImmediatePropagation()
      history.pushState(null, '', address.current)
      ask(() => history.back())
    }
    window.addEventListener('beforeunload', onUnload)
    const unwatch = beforeSteps(onStep)
    openPanels.add(unsaved)
    return () => {
      openPanels.delete(unsaved)
      window.removeEventListener('beforeunload', onUnload)
      unwatch()
    }
  }, [opened, unsaved, ask])
}

/** A pressed button that is disabled while saving loses the focus, so Escape has no target, but must still close the panel. */
function useEscapeFromNowhere(opened: boolean, { ask }: Forms, onClose: () => void): void {
  useEffect(() => {
    if (!opened) return undefined
    const onKey = ({ key, target }: globalThis.KeyboardEvent): void => {
      // If a question is open on top of the panel, Escape belongs to it, and the library closes it.
      if (key === 'Escape' && target === document.body && dialogsAtKey() === 1) ask(onClose)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [opened, ask, onClose])
}

interface QuestionProps {
  readonly asked: boolean
  readonly onStay: () => void
  readonly onLeave: () => void
}

function Question({ asked, onStay, onLeave }: QuestionProps): ReactNode {
  return (
    <Modal opened={asked} onClose={onStay} title="Leave without saving?">
      <Stack>
        <Text size="sm">Your changes are not saved and will be lost.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onStay} data-autofocus>
            Keep editing
          </Button>
          <Button color="red" onClick={onLeave}>
            Discard changes
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const NO_PANEL: Forms = { tell: () => undefined, ask: (go) => go(), done: () => undefined }

/** For a form: reports to its panel whether it is unsaved. */
export function useUnsaved(isUnsaved: boolean): void {
  const { tell } = useContext(PanelForms) ?? NO_PANEL
  const form = useId()
  useEffect(() => {
    tell(form, isUnsaved)
    return () => tell(form, false)
  }, [tell, form, isUnsaved])
}

/** For links within a panel: navigates at once if nothing would be lost. */
export const useLeaving = (): ((go: () => void) => void) => (useContext(PanelForms) ?? NO_PANEL).ask

/** For a form that was saved: closes the panel, unless something in it is still unsaved. */
export const useDone = (): (() => void) => (useContext(PanelForms) ?? NO_PANEL).done
