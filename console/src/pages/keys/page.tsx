import type { ReactNode } from 'react'
import { useRead } from '../../api/hooks.ts'
import { usd } from '../../lib/format.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Page } from '../../ui/page.tsx'

export default function KeysPage(): ReactNode {
  const keys = useRead('GET /api/v1/keys', { query: { include_disabled: 'true' } })
  return (
    <Page title="Keys" about="Inference keys call models; what each spent and may spend.">
      <Loaded of={keys}>
        {({ data }) => (
          <DataTable
            label="Inference keys"
            rows={data}
            keyOf={({ hash }) => hash}
            empty="There is no key yet."
            columns={[
              { header: 'Name', cell: ({ name }) => name },
              { header: 'Spent', cell: ({ usage }) => usd(usage), isFigure: true },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
