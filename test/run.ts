/**
 * `npm test [quick | unit] [FILE…]`: runs the tests and says at the end which were skipped, and what
 * this machine lacks for them. With `CI=true`, a skipped test that is not expected is a failure.
 */
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

import { MISSING } from './needs.ts';
import { bringTools } from './tools.ts';

const ROOT = join(import.meta.dirname, '..');
const UNIT = 'packages/**/src/**/*.test.ts';
/** What takes longest first, so that no processor is idle at the end. */
const LONG = [
  'packages/cli/src/{safe-terminal,start}.test.ts',
  'test/{cluster,withhold,log-contract}/**/*.test.ts',
  'conformance/**/*.test.ts',
  'test/{crash,oracle,mirror,live,watch}/**/*.test.ts',
];
const SUITES: Readonly<Record<string, readonly string[]>> = {
  all: [...LONG, 'test/**/*.test.ts', UNIT],
  unit: [UNIT],
  quick: [
    'packages/{client,protocol,web}/src/**/*.test.ts',
    'packages/gateway/src/{,!(store)/**/}*.test.ts',
  ],
};
const TIMEOUT_MS = 30 * 60_000;
/** Tests wait for processes, disks and clocks for a third of their time, and not evenly. */
const PROCESSES_PER_CORE = 3;
/** Files named at the end. */
const SLOWEST = 20;
/** Skipped everywhere, with reasons of their own. */
const EXPECTED_SKIPS: readonly RegExp[] = [
  // Cases of the conformance suite, of a gateway that speaks another language.
  /^3 The language that comes with the gateway/,
  /^5 The rooms of the interface are there by default/,
];

const isCi = process.env['CI'] === 'true';
const [first = 'all', ...rest] = process.argv.slice(2);
const patterns = SUITES[first] ?? [first, ...rest];
if (!(first in SUITES) || first === 'all') bringTools();
if (isCi) execFileSync(join(import.meta.dirname, 'install.sh'), { stdio: 'inherit' });
process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules/.cache/presence');

const exclude = ['**/node_modules/**'];
const files = [
  ...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT, exclude }))),
];
const skipped: { readonly name: string; readonly file: string; readonly reason: string }[] = [];
const seconds = new Map<string, number>();
const tests = run({
  files: files.map((file) => join(ROOT, file)),
  concurrency: PROCESSES_PER_CORE * Math.max(2, availableParallelism()),
  timeout: TIMEOUT_MS,
});
tests.on('test:pass', ({ name, file = '', skip }) => {
  if (skip === undefined) return;
  skipped.push({ name, file: relative(ROOT, file), reason: String(skip) });
});
tests.on('test:fail', ({ todo }) => {
  if (todo === undefined) process.exitCode = 1;
});
tests.on('test:summary', ({ file, duration_ms: ms }) => {
  if (file !== undefined) seconds.set(relative(ROOT, file), ms / 1000);
});
tests.compose(spec).pipe(process.stdout);
tests.once('end', () => {
  reportSlowest();
  reportSkipped();
});

/** Beside the others: a file may take three times what it would take alone. */
function reportSlowest(): void {
  const slowest = [...seconds].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST);
  const lines = slowest.map(([file, taken]) => `${taken.toFixed(0).padStart(6)} s  ${file}\n`);
  console.log(`\nWhat took longest:\n${lines.join('')}`);
}

function reportSkipped(): void {
  const missing = skipped.filter(({ reason }) => reason.startsWith(MISSING));
  const lines = [...Map.groupBy(missing, ({ reason }) => reason)].map(([reason, those]) => {
    const names = new Set(those.map(({ file }) => file));
    return `  ${reason}: ${those.length} in ${[...names].join(', ')}\n`;
  });
  const unexpected = skipped.filter(
    ({ name }) => !EXPECTED_SKIPS.some((known) => known.test(name)),
  );
  if (lines.length > 0)
    console.log(
      `\nSkipped for what this machine lacks:\n${lines.join('')}\nTo run them too: npm run test:install, as root on Debian.`,
    );
  if (!isCi || unexpected.length === 0) return;
  process.exitCode = 1;
  console.error(`Nothing may be skipped with CI=true:\n${JSON.stringify(unexpected, null, 2)}`);
}
