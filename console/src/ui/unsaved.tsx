import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { createContext, useContext, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { dialogsAtKey } from './dialogs-at-key.ts'
import { beforeSteps } from './steps-back.ts'

/** What a panel knows of the forms in it. */
interface Forms {
  readonly tell: (form: string, isUnsaved: boolean) => void
  readonly ask: (go: () => void) => void
  readonly done: () => void
}

const PanelForms = createContext<Forms | undefined>(undefined)

/** Forms that are not saved, by the panel they stand in. */
const openPanels = new Set<ReadonlySet<string>>()

/** Whether anything that is open holds what is not saved. */
export const isAnythingUnsaved = (): boolean => [...openPanels].some(({ size }) => size > 0)

interface Guard {
  /** Closes the panel, once it was asked for where something would be lost. */
  readonly close: () => void
  /** For the panel, instead of its own way to close with Escape: that takes away what lies on top, and no more. */
  readonly onKeyDown: (event: KeyboardEvent) => void
  /** Has to be around what the panel shows. */
  readonly around: (children: ReactNode) => ReactNode
}

/**
 * Keeps what was typed in a panel: whatever way leads out of it (a click beside it, Escape, its cross, a step back, a tab that is closed) asks
 * first where a form in it is not saved.
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
    // Forms have told by now what the save left of them.
    if (isDone.current && unsaved.size === 0) onClose()
    isDone.current = false
  })
  useWaysOut(opened, unsaved, forms)
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
    // A question is no part of this element, though its events come by; an open list of choices says that Escape is for it.
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

/** Ways out of a panel that lead past it. */
function useWaysOut(opened: boolean, unsaved: ReadonlySet<string>, { ask }: Forms): void {
  const address = useRef('')
  useEffect(() => {
    address.current = location.href
  })
  useEffect(() => {
    if (!opened) return undefined
    const onUnload = (event: BeforeUnloadEvent): void => {
      if (unsaved.size > 0) event.preventDefault()
    }
    // It comes when the step was taken: it is taken back before anybody else hears of it.
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

/** A button that was pressed, and is disabled while something is saved, leaves the focus nowhere: Escape is for the panel then, too. */
function useEscapeFromNowhere(opened: boolean, { ask }: Forms, onClose: () => void): void {
  useEffect(() => {
    if (!opened) return undefined
    const onKey = ({ key, target }: globalThis.KeyboardEvent): void => {
      // A question on top of it, which the kit itself closes, is for it alone.
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
        <Text size="sm">What was typed here is not saved, and is lost then.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onStay} data-autofocus>
            Keep editing
          </Button>
          <Button color="red" onClick={onLeave}>
            Discard it
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const NO_PANEL: Forms = { tell: () => undefined, ask: (go) => go(), done: () => undefined }

/** For a form: tells the panel it stands in whether something in it is not saved. */
export function useUnsaved(isUnsaved: boolean): void {
  const { tell } = useContext(PanelForms) ?? NO_PANEL
  const form = useId()
  useEffect(() => {
    tell(form, isUnsaved)
    return () => tell(form, false)
  }, [tell, form, isUnsaved])
}

/** For what leads elsewhere from within a panel: goes at once where nothing is lost by it. */
export const useLeaving = (): ((go: () => void) => void) => (useContext(PanelForms) ?? NO_PANEL).ask

/** For a form that was saved: closes the panel, unless something in it is not saved yet. */
export const useDone = (): (() => void) => (useContext(PanelForms) ?? NO_PANEL).done
