/**
 * A machine for trying what documents say: this one's files under a layer that is thrown away, with a network of
 * its own. What runs there may write anywhere and listen at any port.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

import { until } from '../../conformance/until.ts';
import { dataFolder } from '../gateway-process.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
/** Where the repository is in the machine. */
export const HERE = '/opt/presence';

const SET_UP = `set -e
mount -t tmpfs presence "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay presence -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mount -t tmpfs presence "$1/root/tmp"
mkdir -p "$1/root${HERE}"
mount --bind "$2" "$1/root${HERE}"
ip link set lo up
echo ready
exec chroot "$1/root" sleep infinity`;

interface Run {
  readonly code: number | null;
  /** Of the terminal: of standard output and error. */
  readonly output: string;
}

export interface Machine extends AsyncDisposable {
  write(path: string, content: string): Promise<void>;
  /** At a terminal, where `y` answers what is asked. */
  run(command: string, env?: Readonly<Record<string, string>>): Promise<Run>;
  /** Starts what goes on, in the background. Resolves once it has printed this. */
  start(
    command: string,
    printed: RegExp,
    env?: Readonly<Record<string, string>>,
    folder?: string,
  ): Promise<AsyncDisposable>;
}

export async function startMachine(): Promise<Machine> {
  await using opened = new AsyncDisposableStack();
  const { path: layer } = opened.use(await dataFolder());
  const namespaces = ['--mount', '--net', 'sh', '-c', SET_UP, 'sh', layer, REPOSITORY];
  const machine = spawn('unshare', namespaces, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  opened.defer(async () => await end(machine));
  await once(machine.stdout, 'data');
  const enter = ['--target', String(machine.pid), '--mount', '--net', '--root', '--wdns=/root'];
  const root = `/proc/${machine.pid}/root`;
  const launch = (command: string, env: Readonly<Record<string, string>> = {}) => {
    const args = [...enter, 'script', '--quiet', '--return', '--command', command, '/dev/null'];
    return spawn('nsenter', args, { env: { ...ENVIRONMENT, ...env } });
  };
  const resources = opened.move();
  return {
    async write(path, content) {
      await mkdir(dirname(root + path), { recursive: true });
      await writeFile(root + path, content, { mode: 0o755 });
    },
    async run(command, env) {
      const child = launch(command, env);
      // A command that ends at once may have closed its input before the answer is written: what it printed counts.
      child.stdin.on('error', () => {});
      // At the end of its input, "script" waits for two seconds.
      child.stdin.write('y\n');
      const output = text(child.stdout);
      await once(child, 'exit');
      child.stdin.destroy();
      return { code: child.exitCode, output: await output };
    },
    async start(command, printed, env, folder = '/root') {
      const child = spawn('nsenter', [...enter, 'sh', '-c', `cd ${folder} && exec ${command}`], {
        env: { ...ENVIRONMENT, ...env },
        // What it has started ends with it.
        detached: true,
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => (output += String(chunk)));
      await until(
        async () => output,
        (all) => printed.test(all) || child.exitCode !== null,
      );
      if (!printed.test(output)) throw new Error(`${command} has ended: ${output}`);
      return { [Symbol.asyncDispose]: async () => await end(child) };
    },
    [Symbol.asyncDispose]: async () => await resources.disposeAsync(),
  };
}

const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  TERM: 'dumb',
  NODE_COMPILE_CACHE: '/var/cache/node',
};

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await ended;
}
