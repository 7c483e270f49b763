import { Stack, Text, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import type { GenerationDetail } from '../../api/schema.ts'
import { duration } from '../../lib/format.ts'
import { timelineOf, type Stretch } from './timeline.ts'
import classes from './timeline-view.module.css'

/** When everything happened, with one line for each attempt and each tool. */
export function Timeline({ of }: { readonly of: GenerationDetail }): ReactNode {
  const stretches = timelineOf(of)
  if (stretches.length === 0) return null
  return (
    <Stack component="ol" gap={6} p={0} m={0} aria-label="Timeline" className={classes['stretches']}>
      {stretches.map((stretch) => (
        <li key={`${stretch.kind} ${stretch.label} ${stretch.startMs}`}>
          <Text size="xs" className={classes['label']}>
            <span>{stretch.label}</span>
            <span>{describe(stretch)}</span>
          </Text>
          <Tooltip label={`after ${duration(stretch.startMs)}`}>
            <div className={classes['line']}>
              <div
                className={classes['stretch']}
                data-kind={stretch.isFailed ? 'failed' : stretch.kind}
                style={{ left: share(stretch.start), width: share(stretch.length) }}
              />
              {stretch.firstContent !== undefined && <div className={classes['first']} style={{ left: share(stretch.firstContent) }} />}
            </div>
          </Tooltip>
        </li>
      ))}
    </Stack>
  )
}

const share = (value: number): string => `${(value * 100).toFixed(2)}%`

const describe = ({ isFailed, durationMs }: Stretch): string =>
  [isFailed ? 'failed' : '', durationMs === null ? '' : duration(durationMs)].filter((part) => part !== '').join(', ')
