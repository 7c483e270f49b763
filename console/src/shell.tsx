import {
  ActionIcon,
  AppShell,
  Burger,
  Button,
  Center,
  Group,
  Loader,
  NavLink,
  ScrollArea,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { Suspense, type ReactNode } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { useRead } from './api/hooks.ts'
import { NotFound } from './not-found.tsx'
import { PAGES } from './pages/index.ts'
import { Boundary } from './ui/boundary.tsx'

/** The width below which the UI library hides the navigation until it is opened. */
const BELOW_SM = '(max-width: 47.99em)'

export interface ShellProps {
  readonly onSignOut: () => void
}

/** The frame around every page. */
export function Shell({ onSignOut }: ShellProps): ReactNode {
  const [opened, { toggle, close }] = useDisclosure()
  // The key's workspace must be known before the key expires: a user who then signs in with the same workspace may continue.
  useRead('GET /api/v1/key')
  // What is outside of the window is also out of reach for the keyboard and for screen readers.
  const isAway = useMediaQuery(BELOW_SM, false, { getInitialValueInEffect: false }) && !opened
  return (
    <AppShell header={{ height: 52 }} navbar={{ width: 210, breakpoint: 'sm', collapsed: { mobile: !opened } }} padding="lg">
      <AppShell.Header>
        <Group h="100%" px={{ base: 'xs', xs: 'md' }} gap="xs" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" aria-expanded={opened} />
            <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width={26} height={26} />
            <Text fw={650}>Signalbox</Text>
          </Group>
          <Group gap="xs" wrap="nowrap" flex="none">
            <SchemeSwitch />
            <Button variant="default" size="xs" onClick={onSignOut}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" inert={isAway}>
        <ScrollArea>
          <Navigation onGo={close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main>
        <Pages />
      </AppShell.Main>
    </AppShell>
  )
}

function SchemeSwitch(): ReactNode {
  const { setColorScheme } = useMantineColorScheme()
  const next = useComputedColorScheme('light') === 'light' ? 'dark' : 'light'
  return (
    <ActionIcon variant="default" size={30} aria-label={`Use the ${next} colours`} onClick={() => setColorScheme(next)}>
      {next === 'dark' ? '☾' : '☀'}
    </ActionIcon>
  )
}

function Navigation({ onGo }: { readonly onGo: () => void }): ReactNode {
  const [location] = useLocation()
  const isHere = (path: string): boolean => (path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`))
  return PAGES.map(({ path, label }) => (
    <NavLink
      key={path}
      component={Link}
      href={path}
      label={label}
      active={isHere(path)}
      aria-current={isHere(path) ? 'page' : undefined}
      onClick={onGo}
    />
  ))
}

/** A page is loaded on its first visit; one that fails leaves the others usable. */
function Pages(): ReactNode {
  const [location] = useLocation()
  const waiting = (
    <Center component="output" h={200} aria-label="Loading">
      <Loader />
    </Center>
  )
  return (
    <Boundary key={location}>
      <Suspense fallback={waiting}>
        <Switch>
          {PAGES.map(({ path, View }) => (
            <Route key={path} path={path}>
              <View />
            </Route>
          ))}
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </Boundary>
  )
}
