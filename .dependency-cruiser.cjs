/**
 * The import map of ARCHITECTURE.md as rules. Each says why it stands.
 * Tests are held to the same walls, except that they may use `src/testing` and the folders they build their scene from.
 */
const TESTS = '\\.test\\.ts$'
const ROOMS = 'doors|catalog|config|router|plugins|tools|destinations|delivery|accounts|store|telemetry|dialects|importers'

/** A room may import core, lib, itself and what is listed; packages and Node are no concern of these rules. */
const room = (name, also, why) => ({
  name: `${name}-imports`,
  comment: why,
  severity: 'error',
  from: { path: `^src/${name}/`, pathNot: TESTS },
  to: { path: '^src/', pathNot: `^src/(${['core', 'lib', name, ...also].join('|')})/` },
})

const EXTENSION_ROOMS = ['providers', 'plugins', 'tools', 'destinations', 'importers']

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle has no first file to read and breaks loading order.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'the-console-is-a-client',
      comment: 'It knows the gateway by its public API alone, as any other client does.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(src|e2e|bench|scripts|bin)/' },
    },
    {
      name: 'examples-are-clients',
      comment: 'They are read and copied one by one: nothing of ours in them, nor of each other.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(src|e2e|bench|scripts|bin|console|examples)/' },
    },
    {
      name: 'nothing-imports-the-console',
      comment: 'The gateway serves its files and knows nothing of them.',
      severity: 'error',
      from: { path: '^(src|bench|bin)/' },
      to: { path: '^console/' },
    },
    {
      name: 'pages-are-islands',
      comment: 'A page can be read and replaced alone: what several share lives in ui/, lib/ or api/.',
      severity: 'error',
      from: { path: '^console/src/pages/([^/]+)/' },
      to: { path: '^console/src/pages/', pathNot: '^console/src/pages/$1/' },
    },
    {
      name: 'lib-imports-nothing',
      comment: 'lib is free of the domain: it could be published on its own.',
      severity: 'error',
      from: { path: '^src/lib/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/lib/' },
    },
    {
      name: 'core-imports-lib',
      comment: 'core is the vocabulary and the ports: everything depends on it, so it depends on nothing but lib.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/(core|lib)/' },
    },
    ...ROOMS.split('|').map((name) =>
      room(name, [], 'Rooms meet through the types of core, never directly: each can be read, tested and replaced alone.'),
    ),
    room('providers', ['dialects'], 'A vendor is data on a dialect; it knows nothing of routing, HTTP or storage.'),
    room('pipeline', ['router'], 'The pipeline runs plans of the router and speaks model events; wire formats and sockets are not its business.'),
    room(
      'http',
      ['doors', 'pipeline'],
      'HTTP turns sockets into calls and events into bytes; upstreams, stores and configuration reach it as arguments.',
    ),
    {
      name: 'testing-is-for-tests',
      comment: 'Fakes and contract suites never ship in a running gateway.',
      severity: 'error',
      from: { path: '^src/', pathNot: `${TESTS}|^src/testing/` },
      to: { path: '^src/testing/' },
    },
    {
      name: 'nothing-imports-the-root',
      comment: 'The files of src itself, wiring and cli compose the rest; what a room needs is handed down, not fetched up.',
      severity: 'error',
      from: { path: '^src/(?![^/]+\\.ts$|wiring/|cli/|testing/)', pathNot: TESTS },
      to: { path: '^src/([^/]+\\.ts$|wiring/|cli/)' },
    },
    ...EXTENSION_ROOMS.map((name) => ({
      name: `${name}-are-islands`,
      comment: 'An extension stands alone: only index.ts lists the siblings; what several share lives in shared/.',
      severity: 'error',
      from: { path: `^src/${name}/([^/]+)`, pathNot: `${TESTS}|^src/${name}/(index\\.ts$|shared/)` },
      // A sibling is a file of the room, or a file in a folder of another name.
      to: { path: `^src/${name}/`, pathNot: `^src/${name}/(shared/|$1(/|$))` },
    })),
    ...EXTENSION_ROOMS.map((name) => ({
      name: `${name}-shared-is-below`,
      comment: 'shared/ serves the extensions of its room and knows none of them.',
      severity: 'error',
      from: { path: `^src/${name}/shared/`, pathNot: TESTS },
      to: { path: `^src/${name}/`, pathNot: `^src/${name}/shared/` },
    })),
    {
      name: 'src-stands-alone',
      comment: 'Sources never reach into tests, benches or scripts.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { path: '^(e2e|bench|scripts)/' },
    },
    {
      name: 'runtime-dependencies-only',
      comment: 'A package the gateway imports at run time belongs in "dependencies".',
      severity: 'error',
      from: { path: '^src/', pathNot: `${TESTS}|^src/testing/|contract\\.ts$` },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'] },
    },
    {
      name: 'resolvable',
      comment: 'An import that cannot be resolved hides from every other rule.',
      severity: 'error',
      from: { path: '^(src|e2e|bench|scripts)/' },
      to: { couldNotResolve: true, pathNot: '^node:' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '__fixtures__|^bench/node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json'],
    },
    cache: false,
  },
}
