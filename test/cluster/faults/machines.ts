/**
 * Three machines in one: network namespaces on a bridge, each with disks of its own (tmpfs) that can
 * be filled. Needs root.
 */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { type DataFolder, dataFolder } from '../../gateway-process.ts';
import { type Clock, makeClock } from './clock.ts';

export interface Machine {
  readonly host: string;
  /** Put before a command, it runs the command on this machine. */
  readonly under: readonly string[];
  /** Each a disk of its own. */
  readonly folders: Readonly<Record<Disk, string>>;
  /** Of its gateway. */
  readonly clock: Clock;
  /** Loses what comes from the others, until `hearAll`. What it sends arrives. */
  ignore(others: readonly Machine[]): Promise<void>;
  hearAll(): Promise<void>;
  /** Leaves no byte free. */
  fill(disk: Disk): Promise<void>;
  makeRoom(disk: Disk): Promise<void>;
}

export interface Machines extends AsyncDisposable {
  readonly machines: readonly Machine[];
}

const DISKS = ['server', 'gateway'] as const;
type Disk = (typeof DISKS)[number];

const DISK_SIZE = '512m';
const BALLAST = 'ballast';

export async function startMachines(count: number): Promise<Machines> {
  await using stack = new AsyncDisposableStack();
  await run(join(import.meta.dirname, '../../install.sh'), 'faults');
  const folder = stack.use(await dataFolder());
  const id = randomInt(1, 250);
  const network = `10.213.${id}`;
  const bridge = `presence${id}`;
  await run('ip', 'link', 'add', bridge, 'type', 'bridge');
  stack.defer(() => run('ip', 'link', 'delete', bridge));
  await run('ip', 'address', 'add', `${network}.254/24`, 'dev', bridge);
  await run('ip', 'link', 'set', bridge, 'up');
  const machines: Machine[] = [];
  for (let number = 1; number <= count; number += 1)
    machines.push(await startMachine(stack, folder, { network, bridge, number }));
  const rest = stack.move();
  return { machines, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

async function startMachine(
  stack: AsyncDisposableStack,
  folder: DataFolder,
  place: { readonly network: string; readonly bridge: string; readonly number: number },
): Promise<Machine> {
  const { network, bridge, number } = place;
  const name = `${bridge}-${number}`;
  const host = `${network}.${number}`;
  const under = ['ip', 'netns', 'exec', name];
  const inside = (...command: string[]): Promise<void> => run(...under, ...command);
  await run('ip', 'netns', 'add', name);
  stack.defer(() => run('ip', 'netns', 'delete', name));
  await run('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  await run('ip', 'link', 'set', name, 'master', bridge, 'up');
  await inside('ip', 'address', 'add', `${host}/24`, 'dev', 'eth0');
  await inside('ip', 'link', 'set', 'eth0', 'up');
  await inside('ip', 'link', 'set', 'lo', 'up');
  const folders = {
    server: join(folder.path, `server${number}`),
    gateway: join(folder.path, `gateway${number}`),
  };
  for (const path of Object.values(folders)) {
    await mkdir(path);
    await run('mount', '-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'presence-test', path);
    stack.defer(() => run('umount', '--lazy', path));
  }
  return {
    host,
    under,
    folders,
    clock: await makeClock(join(folder.path, `clock${number}`)),
    async ignore(others) {
      for (const other of others)
        await inside('iptables', '--append', 'INPUT', '--source', other.host, '--jump', 'DROP');
    },
    hearAll: () => inside('iptables', '--flush'),
    fill: (disk) => fill(join(folders[disk], BALLAST)),
    makeRoom: (disk) => rm(join(folders[disk], BALLAST), { force: true }),
  };
}

async function fill(path: string): Promise<void> {
  await using ballast = await open(path, 'w');
  for (let size = 1024 * 1024; size >= 512;)
    try {
      const { bytesWritten } = await ballast.write(Buffer.alloc(size));
      if (bytesWritten < size) size = Math.floor(size / 2);
    } catch {
      size = Math.floor(size / 2);
    }
}

async function run(...[program = '', ...args]: string[]): Promise<void> {
  await promisify(execFile)(program, args);
}
