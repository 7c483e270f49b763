import '@mantine/core/styles.css'
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
    // What a browser knows of being offline is not about this gateway, which may run beside it. It would keep changes back to send them later,
    // when whoever asked for them has long turned to something else.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      // What was refused once is refused again; what was not reached, or overloaded, may come back.
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
