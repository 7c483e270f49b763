import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'
import { useAddress } from '../../ui/address.ts'
import { Details } from './details.tsx'
import { Filters } from './filters.tsx'
import { List } from './list.tsx'
import { queryOf } from './query.ts'

export default function ModelsPage(): ReactNode {
  const address = useAddress()
  const models = useRead('GET /api/v1/models', { query: queryOf(address.get) })
  return (
    <Page title="Models" about="Models that callers can use. Prices are USD per million tokens at the cheapest endpoint.">
      <Filters address={address} />
      <Loaded of={models}>{(data) => <List models={data} address={address} />}</Loaded>
      <Details model={address.get('model')} onClose={() => address.set({ model: undefined })} />
    </Page>
  )
}
