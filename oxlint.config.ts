import { defineConfig } from 'oxlint';

/**
 * The dependency rules: protocol ← log ← {intake, feed, presence, stores} ← doors ← gateway.ts ← cli's main.ts.
 * Each is held by a deliberately wrong file under test/lint/fixtures.
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

const folder = (...names: readonly string[]): string =>
  String.raw`^\.\.?/(.*/)?(${names.join('|')})(/|$)`;
const root = String.raw`^(\.\./)+(gateway|index)\.ts$`;
const gateway = 'packages/gateway/src';

const compositionRoot = [`${gateway}/gateway.ts`, `${gateway}/http-worker.ts`];

const noProcess = 'Only packages/cli/src/main.ts knows the process.';
const everywhere: Zone['forbids'] = {
  [String.raw`^(node:)?process$`]: noProcess,
  [String.raw`^(\.\./)+(packages/)?(protocol|gateway|cli)/`]:
    'Another package is imported by its name.',
};
const inGateway: Zone['forbids'] = {
  ...everywhere,
  '^@open-presence/(cli|gateway)': 'The gateway imports no package of ours but protocol.',
};

const zones: readonly Zone[] = [
  {
    files: ['packages/protocol/src/**'],
    forbids: {
      ...everywhere,
      '^@open-presence/': 'protocol imports nothing of ours.',
      '^node:': 'protocol is browser-safe.',
    },
  },
  {
    files: [`${gateway}/log/**`],
    forbids: {
      ...inGateway,
      [root]: 'log imports only protocol.',
      [folder('intake', 'feed', 'presence', 'stores', 'doors')]: 'log imports only protocol.',
    },
  },
  {
    files: [`${gateway}/intake/**`],
    forbids: {
      ...inGateway,
      [root]: 'intake imports only protocol and log.',
      [folder('feed', 'presence', 'stores', 'doors')]: 'intake imports only protocol and log.',
    },
  },
  {
    files: [`${gateway}/feed/**`],
    forbids: {
      ...inGateway,
      [root]: 'feed imports only protocol and log.',
      [folder('intake', 'presence', 'stores', 'doors')]: 'feed imports only protocol and log.',
    },
  },
  {
    files: [`${gateway}/presence/**`],
    forbids: {
      ...inGateway,
      [root]: 'presence imports only protocol and log.',
      [folder('intake', 'feed', 'stores', 'doors')]: 'presence imports only protocol and log.',
    },
  },
  ...['sqlite', 'jetstream', 'memory'].map((store, _, stores) => ({
    files: [`${gateway}/stores/${store}/**`],
    forbids: {
      ...inGateway,
      [root]: 'stores import only protocol and log.',
      [folder('intake', 'feed', 'presence', 'doors')]: 'stores import only protocol and log.',
      [folder(...stores.filter((other) => other !== store))]: 'stores never import each other.',
    },
  })),
  {
    files: [`${gateway}/doors/**`],
    forbids: {
      ...inGateway,
      [root]: 'doors never import the composition root.',
      [folder('stores')]: 'doors never import stores.',
    },
  },
  {
    files: [`${gateway}/*.ts`],
    except: compositionRoot,
    forbids: { ...inGateway, [folder('stores')]: 'Only gateway.ts and its threads import stores.' },
  },
  { files: compositionRoot, forbids: inGateway },
  { files: ['packages/cli/src/**'], except: ['packages/cli/src/main.ts'], forbids: everywhere },
];

const forbid = (forbids: Zone['forbids']): ['error', { patterns: ForbiddenImport[] }] => [
  'error',
  { patterns: Object.entries(forbids).map(([regex, message]) => ({ regex, message })) },
];
const anywhere = (path: string): string => `**/${path}`;
const tests = ['**/*.test.ts'];

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { builtin: true, node: true },
  rules: {
    eqeqeq: 'error',
    'max-lines': ['warn', { max: 300, skipBlankLines: true, skipComments: true }],
    'no-console': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'import/no-cycle': 'error',
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
      excludeFiles: [...tests, '**/packages/cli/src/main.ts', '**/packages/cli/presence.js'],
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
      // A store reads back what it wrote, and a thread what it was started with: cast, not parsed.
      // So is the packaged language, which tests hold to its schema.
      files: [
        ...tests,
        anywhere(`${gateway}/stores/**`),
        anywhere(`${gateway}/http-worker.ts`),
        anywhere('packages/protocol/src/language/packaged-language.ts'),
      ],
      rules: { 'typescript/no-unsafe-type-assertion': 'off' },
    },
    {
      // `then` is a word of JSON Schema.
      files: [anywhere('packages/protocol/src/**')],
      rules: { 'unicorn/no-thenable': 'off' },
    },
    {
      files: ['conformance/**', 'bench/**', 'test/**', 'examples/**'],
      rules: { 'no-console': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});
