/**
 * The dependency rules, each held by deliberately wrong files in `test/lint/boundaries.test.ts`:
 *
 *     protocol ← log ← json ← search ← {intake, feed, presence, store} ← operations ← doors
 *     http ← doors ← routes.ts ← gateway.ts ← the command line's main.ts
 *     metrics ← {store, gateway.ts}
 *     protocol ← web ← the web door
 *     protocol ← client
 *     the port of the gateway ← cluster
 *
 * Invariant: Every dependency rule is known to fail when it is broken.
 * Test: `test/lint/boundaries.test.ts` “each is broken by a file”
 */
interface Zone {
  readonly files: readonly string[];
  readonly except?: readonly string[];
  /** Regular expressions for import specifiers, each with the rule it would break. */
  readonly forbids: Readonly<Record<string, string>>;
}

interface ForbiddenImport {
  regex: string;
  message: string;
}

const gateway = 'packages/gateway/src';
const folder = (...names: readonly string[]): string =>
  String.raw`^\.\.?/(.*/)?(${names.join('|')})(/|$)`;
/** The files at the root of the gateway that compose it. */
const root = String.raw`^(\.\./)+(app-context|gateway|http-worker|index|language-thread|load-language|routes)\.ts$`;

const noProcess = 'Only packages/cli/src/main.ts knows the process.';
const everywhere: Zone['forbids'] = {
  [String.raw`^(node:)?process$`]: noProcess,
  [String.raw`^(\.\./)+(packages/)?(protocol|gateway|client|cli|cluster|web)/`]:
    'Another package is imported by its name.',
};
const PAGES = '^@open-presence/web';
const inGateway: Zone['forbids'] = {
  ...everywhere,
  '^@open-presence/(cli|client|cluster|gateway)':
    'The gateway imports no package of ours but protocol and web.',
  [PAGES]: 'Only the web door imports the pages.',
};

/** The folders of the gateway, and the other folders that each may import. */
const layers = {
  log: [],
  metrics: [],
  json: ['log'],
  search: ['log', 'json'],
  intake: ['log', 'json', 'search'],
  feed: ['log'],
  presence: ['log'],
  store: ['log', 'json', 'search', 'metrics'],
  operations: ['log', 'json', 'search', 'intake', 'feed', 'presence'],
  http: [],
  doors: ['log', 'json', 'search', 'intake', 'feed', 'presence', 'operations', 'http'],
  control: ['json', 'presence', 'operations', 'http'],
} as const satisfies Record<string, readonly string[]>;

const DOORS = ['rest', 'feeds', 'mcp', 'a2a', 'docs', 'health', 'notice', 'web'];

function layerZone(name: string, mayImport: readonly string[]): Zone {
  const rule =
    mayImport.length === 0
      ? `${name} imports only protocol.`
      : `${name} imports only protocol and ${mayImport.join(', ')}.`;
  const others = Object.keys(layers).filter((one) => one !== name && !mayImport.includes(one));
  return {
    files: [`${gateway}/${name}/**`],
    forbids: { ...inGateway, [root]: rule, [folder(...others)]: rule },
  };
}

/** Doors never import one another. What is below several of them stands in their common folder. */
function doorZones(): Zone[] {
  const { forbids } = layerZone('doors', layers.doors);
  return DOORS.map((door) => {
    const others = DOORS.filter((other) => other !== door).join('|');
    return {
      files: [`${gateway}/doors/${door}/**`],
      forbids: {
        ...forbids,
        [String.raw`^(\.\./)+(doors/)?(${others})/`]: 'doors never import each other.',
      },
    };
  });
}

/** The web door may import the pages. */
function withPagesInWebDoor(zone: Zone): Zone {
  if (!zone.files.includes(`${gateway}/doors/web/**`)) return zone;
  const { [PAGES]: _, ...forbids } = zone.forbids;
  return { ...zone, forbids };
}

const compositionRoot = [
  'cluster',
  'gateway',
  'http-worker',
  'index',
  'log-copy',
  'open-log',
  'owner-access',
  'start-checks',
].map((file) => `${gateway}/${file}.ts`);

const zones: readonly Zone[] = [
  {
    files: ['packages/protocol/src/**'],
    forbids: {
      ...everywhere,
      '^@open-presence/': 'protocol imports nothing of ours.',
      '^node:': 'protocol is browser-safe.',
    },
  },
  ...Object.entries(layers).map(([name, mayImport]) => layerZone(name, mayImport)),
  ...doorZones().map(withPagesInWebDoor),
  {
    files: ['packages/web/src/**'],
    forbids: {
      ...everywhere,
      '^@open-presence/(cli|gateway|web)(/|$)':
        'web imports no package of ours but client and protocol.',
      '^node:': 'The pages run in browsers.',
    },
  },
  {
    files: ['packages/client/src/**'],
    forbids: {
      ...everywhere,
      '^@open-presence/(cli|client|gateway|web)':
        'The client imports nothing of ours but protocol.',
      '^node:': 'The client runs in browsers.',
    },
  },
  {
    files: ['packages/cluster/src/**'],
    forbids: {
      ...everywhere,
      '^@open-presence/(cli|client|cluster|web|gateway$|gateway/[^r])':
        'The cluster imports nothing of ours but the port of the gateway, and protocol.',
    },
  },
  {
    files: [`${gateway}/*.ts`],
    except: [...compositionRoot, `${gateway}/routes.ts`],
    forbids: {
      ...inGateway,
      [folder('store')]: 'Only the composition root and its threads import the store.',
      [folder(`doors/(${DOORS.join('|')})`)]: 'Only routes.ts knows all doors.',
    },
  },
  {
    files: compositionRoot,
    forbids: {
      ...inGateway,
      [folder(`doors/(${DOORS.join('|')})`)]: 'Only routes.ts knows all doors.',
    },
  },
  {
    files: [`${gateway}/routes.ts`],
    forbids: {
      ...inGateway,
      [folder('store')]: 'Only the composition root and its threads import the store.',
    },
  },
  { files: ['packages/cli/src/**'], except: ['packages/cli/src/main.ts'], forbids: everywhere },
];

const forbid = (forbids: Zone['forbids']): ['error', { patterns: ForbiddenImport[] }] => [
  'error',
  { patterns: Object.entries(forbids).map(([regex, message]) => ({ regex, message })) },
];
const anywhere = (path: string): string => `**/${path}`;
const tests = ['**/*.test.ts', '**/*.fixture.ts'];

export default {
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { builtin: true, node: true },
  rules: {
    eqeqeq: 'error',
    'max-lines': ['warn', { max: 300, skipBlankLines: true, skipComments: true }],
    'no-console': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/explicit-module-boundary-types': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [
          { from: 'package', package: 'node:test', name: ['describe', 'it', 'suite', 'test'] },
        ],
      },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    'unicorn/prefer-node-protocol': 'error',

    'no-shadow': 'off',
    'no-underscore-dangle': 'off',
    'import/no-named-as-default-member': 'off',
    'import/no-unassigned-import': 'off',
    'oxc/no-async-endpoint-handlers': 'off',
    'promise/always-return': 'off',
    'promise/no-promise-in-callback': 'off',
    'typescript/consistent-return': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'unicorn/require-post-message-target-origin': 'off',
  },
  overrides: [
    {
      files: ['**/packages/**'],
      excludeFiles: [
        ...tests,
        '**/test/packages/**',
        '**/packages/cli/src/main.ts',
        '**/packages/cli/{presence.js,scripts/*.ts}',
      ],
      rules: {
        'no-restricted-globals': [
          'error',
          { globals: [{ name: 'process', message: noProcess }], checkGlobalObject: true },
        ],
      },
    },
    ...zones.map((zone) => ({
      files: zone.files.map(anywhere),
      excludeFiles: [...tests, ...(zone.except ?? []).map(anywhere)],
      rules: { 'no-restricted-imports': forbid(zone.forbids) },
    })),
    {
      // A store reads back what it wrote, a thread what it was started with, and a gateway what
      // others of its cluster sent: cast, not parsed.
      // So are the packaged language, which tests hold to its schema, what the gateway gives its
      // pages and answers its client, a module of Node's that is not imported, and a plugin for a
      // framework that is not installed.
      files: [
        ...tests,
        anywhere(`${gateway}/store/**`),
        anywhere(`${gateway}/log/packed-drafts.ts`),
        anywhere(`${gateway}/presence/other-gateways.ts`),
        anywhere(
          `${gateway}/{http-worker,language-thread,load-cluster,load-language,thread-call}.ts`,
        ),
        anywhere(`${gateway}/doors/docs/{files,openapi-thread}.ts`),
        anywhere(`${gateway}/http/connection/node-http.ts`),
        anywhere('packages/cli/src/environment-proxy.ts'),
        anywhere('packages/cluster/src/**'),
        anywhere('packages/protocol/src/language/packaged-language.ts'),
        anywhere('packages/web/src/**'),
        anywhere('packages/web/vite.config.ts'),
        anywhere('packages/client/src/**'),
      ],
      rules: { 'typescript/no-unsafe-type-assertion': 'off' },
    },
    {
      // `then` is a word of JSON Schema.
      files: [anywhere('packages/protocol/src/**')],
      rules: { 'unicorn/no-thenable': 'off' },
    },
    {
      files: ['conformance/**', 'bench/**', 'test/**', 'examples/**', 'scripts/**'],
      rules: { 'no-console': 'off' },
    },
    {
      // Programs in JavaScript have no types.
      files: ['examples/**'],
      rules: {
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
      },
    },
    { files: ['**/*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
};
