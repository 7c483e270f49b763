import { bare } from './bare.ts'
import { direct } from './direct.ts'
import { nginx } from './nginx.ts'
import { portkey } from './portkey.ts'
import { responsesJs } from './responses-js.ts'
import { signalbox, signalboxChat, signalboxForwarding } from './signalbox.ts'
import type { Target } from './target.ts'

/** In the order of the table. */
export const TARGETS: readonly Target[] = [direct, nginx, bare, signalbox, signalboxChat, signalboxForwarding, portkey, responsesJs]
