/**
 * What a machine may lack that some tests need: programs, and what only root may do. Such a suite is
 * skipped with its reason, and `test/run.ts` lists it at the end. With `CI=true` nothing is skipped
 * for a need: what is missing there fails the test.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { chromiumPath } from './browser/chromium-path.ts';
import { COMMAND } from './command.ts';

/** How a reason to skip begins that `npm run test:install` can remove. */
export const MISSING = 'needs ';

/** Where Debian has what root needs, also if the caller's PATH has not. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];

/** A user who owns nothing. */
export const NOBODY = 65_534;
/** Runs a program as that user. */
export const AS_NOBODY: readonly string[] = [
  'setpriv',
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
];

const PROBES = {
  chromium: () => chromiumPath() !== undefined,
  'nats-server': () => runs(join(import.meta.dirname, '../scripts/nats-server.sh')),
  'python3-httpx and python3-requests': () =>
    runs('/usr/bin/python3', '-c', 'import httpx, requests'),
  /** It needs pseudo-terminals, which a bare root folder has not. */
  script: () => runs('script', '--quiet', '--return', '--command', 'true', '/dev/null'),
  /** A process may trace another, and make its system calls fail. */
  strace: () => runs('strace', '-o', '/dev/null', 'true'),
  'to act as another user': () =>
    runs('setpriv', ...AS_NOBODY.slice(1), process.execPath, COMMAND, '--version'),
  'to mount a disk': mounts,
  'to mount a disk image': () => mounts() && hasProgram('mkfs.ext4') && runs('losetup', '--find'),
  'npm 10.2 or later': () => runs('npm', 'sbom', '--help'),
  'files that even root cannot write': () => process.getuid?.() !== 0 || makesImmutable(),
} as const satisfies Readonly<Record<string, () => boolean>>;

/** A name of `PROBES`, or that of a program. */
type Need = keyof typeof PROBES | Program;

type Program =
  | 'bash'
  | 'caddy'
  | 'curl'
  | 'fish'
  | 'go'
  | 'haproxy'
  | 'ip'
  | 'jq'
  | 'mypy'
  | 'nginx'
  | 'openssl'
  | 'perl'
  | 'php'
  | 'prlimit'
  | 'prometheus'
  | 'promtool'
  | 'python3'
  | 'ruby'
  | 'setpriv'
  | 'systemd-analyze'
  | 'timeout'
  | 'xmllint'
  | 'zsh';

/** The options of a suite or test that needs all of these. */
export function needs(...needed: readonly Need[]): { readonly skip?: string } {
  if (process.env['CI'] === 'true') return {};
  const missing = needed.filter((need) => !has(need));
  return missing.length === 0 ? {} : { skip: `${MISSING}${missing.join(', ')}` };
}

function has(need: Need): boolean {
  const probe = Object.entries(PROBES).find(([name]) => name === need)?.[1];
  return probe === undefined ? hasProgram(need) : probe();
}

function hasProgram(name: string): boolean {
  return FOLDERS.some((folder) => canRun(join(folder, name)));
}

function runs(program: string, ...args: readonly string[]): boolean {
  try {
    const env = { ...process.env, PATH: FOLDERS.join(delimiter) };
    execFileSync(program, args, { stdio: 'ignore', env });
    return true;
  } catch {
    return false;
  }
}

function mounts(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'presence-mount-'));
  try {
    return runs('mount', '-t', 'tmpfs', 'presence', folder) && runs('umount', folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function makesImmutable(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'presence-immutable-'));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  try {
    return runs('chattr', '+i', file) && runs('chattr', '-i', file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
