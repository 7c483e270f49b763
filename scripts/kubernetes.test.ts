import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { loadConfig } from '../src/config/load.ts'
import { MAINTENANCE_LIMIT_MS } from '../src/store/open-database.ts'
import { AFTER_GRACE_MS } from '../src/wiring/stop-limits.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '..', file), 'utf8')
const text = read('deploy/kubernetes.yaml')

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}
interface Container {
  readonly image: string
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe: Probe & { readonly periodSeconds: number; readonly failureThreshold: number }
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly securityContext: object
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
}
interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: { readonly [file: string]: string }
  readonly spec: {
    readonly selector: { readonly matchLabels: object }
    readonly template: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly enableServiceLinks?: boolean
        readonly terminationGracePeriodSeconds: number
        readonly securityContext: object
        readonly containers: readonly Container[]
        readonly volumes: readonly { readonly name: string }[]
      }
    }
  }
}

const manifests = parseAllDocuments(text).map((document) => {
  expect(document.errors).toEqual([])
  return document.toJS() as Manifest
})
const deployments = manifests.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec)
const files = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
const config = await loadConfig({ env: {}, read: { file: 'signalbox.yaml', text: files['signalbox.yaml'] ?? '' } })

describe.each(deployments)('each deployment for Kubernetes', ({ selector, template: { metadata, spec } }) => {
  const container = spec.containers[0]!

  it('finds its own pods', () => expect(metadata.labels).toMatchObject(selector.matchLabels))

  // A pod that is killed during a migration starts the migration again, and would never finish it.
  it('is given as much time to start as a migration may take', () => {
    const { periodSeconds, failureThreshold } = container.startupProbe
    expect(periodSeconds * failureThreshold * 1_000).toBeGreaterThan(MAINTENANCE_LIMIT_MS)
  })

  // Every pod that is created after a Service of this name gets SIGNALBOX_PORT=tcp://..., which is not a port to listen on, so the gateway would not
  // start.
  it('gets no environment variables for Services', () => {
    expect(manifests.filter(({ kind }) => kind === 'Service').map((service) => service.metadata.name)).toEqual(['signalbox'])
    expect(spec.enableServiceLinks).toBe(false)
  })

  it('is given the time a stop may take', () => {
    const { shutdownDelay, shutdownGrace } = config.server
    expect(spec.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(shutdownDelay + shutdownGrace + AFTER_GRACE_MS)
  })

  it('is probed at paths the gateway answers, on the port of the image', () => {
    const [port] = container.ports
    expect(read('deploy/Dockerfile')).toMatch(new RegExp(`^EXPOSE ${port?.containerPort}$`, 'm'))
    expect([container.startupProbe, container.readinessProbe, container.livenessProbe].map(({ httpGet }) => httpGet)).toEqual(
      ['/healthz', '/readyz', '/healthz'].map((path) => ({ path, port: port?.name })),
    )
  })

  it('may write where the image writes and nowhere else, and does not run as root', () => {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 })
    expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
    expect(container.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath)).toEqual(['/data', '/tmp'])
    expect(new Set(container.volumeMounts.map(({ name }) => name))).toEqual(new Set(spec.volumes.map(({ name }) => name)))
  })

  it('reads the file that is mounted', () => {
    const named = container.env.find(({ name }) => name === 'SIGNALBOX_CONFIG')?.value
    const mounted = container.volumeMounts.find(({ name }) => name === 'config')?.mountPath
    expect(Object.keys(files).map((file) => `${mounted}/${file}`)).toEqual([named])
  })
})

it('there are gateways and a worker of one image', () => {
  const containers = deployments.map(({ template }) => template.spec.containers[0]!)
  expect(containers.map(({ env }) => env.find(({ name }) => name === 'SIGNALBOX_ROLE')?.value)).toEqual(['gateway', 'worker'])
  expect(new Set(containers.map(({ image }) => image)).size).toBe(1)
})

it('the secrets it asks for are variables the gateway reads', () => {
  const page = read('docs/reference/configuration.md')
  const asked = [...text.matchAll(/--from-literal=(SIGNALBOX_\w+)=/g)].map(([, name]) => name!)
  expect(asked).toContain('SIGNALBOX_SECRET_KEY')
  for (const name of asked) expect(page).toContain(`\`${name}\``)
})
