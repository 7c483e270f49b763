import '@mantine/core/styles.css'
import './forced-colours.css'
import './print.css'
import './text-direction.css'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { ApiError } from './api/client.ts'
import { readable, theme } from './theme.ts'
import { watchDialogs } from './ui/dialogs-at-key.ts'
import { watchSteps } from './ui/steps-back.ts'

const RETRIES = 2

const queries = new QueryClient({
  defaultOptions: {
    // The browser's online state says nothing about this gateway, which may run on the same machine. The library would hold changes back and send them
    // later, when the user has long turned to something else.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      // A refused request would be refused again; an unreachable or overloaded gateway may recover.
      retry: (failures, error) => failures < RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      staleTime: 5_000,
    },
  },
})

watchSteps()
watchDialogs()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={readable} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
