/**
 * A real gateway in a process of its own, for tests that need one: started from the command line
 * on a free port, over a data folder that may outlive it. Ended by its process id, at the latest
 * when the test's own process ends.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { PATIENCE_MS } from '../conformance/until.ts';
import { COMMAND } from './command.ts';

const IN_MEMORY = '/dev/shm';
/** More than any test of these stores. Containers often have 64 MiB. */
const ENOUGH_BYTES = 2 ** 30;
export interface GatewayOptions {
  /** Data folder, kept when the process has ended. Without it: a new one, removed at the end. */
  readonly data?: string;
  /** The Node.js to run: this one by default. */
  readonly node?: string;
  /** The command's file: the one of this repository by default. */
  readonly command?: string;
  /** Further arguments of `serve`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A program with arguments to put before the command, such as `strace -f`. */
  readonly under?: readonly string[];
}

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface GatewayProcess extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, or `unix:PATH` for a UNIX socket. */
  readonly url: string;
  readonly pid: number;
  readonly data: string;
  /** Resolves when the process has ended, whoever ended it. */
  readonly ended: Promise<Ending>;
  /** Waits for an end that it comes to by itself. */
  ends(): Promise<Ending>;
  /** What it has written so far, both streams. */
  output(): string;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<Ending>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<Ending>;
}

export interface DataFolder extends AsyncDisposable {
  readonly path: string;
}

/** An empty folder, removed on disposal. */
export async function dataFolder(): Promise<DataFolder> {
  const path = await mkdtemp(join(tmpdir(), 'presence-'));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/**
 * Has temporary files in memory from now on, where the system can: for tests that count on no disk,
 * and wait for its flushes most of their time.
 */
export function keepFilesInMemory(): void {
  if (freeBytes(IN_MEMORY) >= ENOUGH_BYTES) process.env['TMPDIR'] = IN_MEMORY;
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** For a gateway that has to know its port before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}

/** Resolves once the gateway has told its address; rejects if it ends before, with its output. */
export async function startGatewayProcess(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const own = options.data === undefined ? await dataFolder() : undefined;
  const data = options.data ?? own?.path ?? '';
  const child = launch(data, options);
  const written: string[] = [];
  const ended = endOf(child);
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  void ended.then(() => process.off('exit', killAtExit));

  const end = async (signal: NodeJS.Signals): Promise<Ending> => {
    child.kill(signal);
    return await inTime(ended, () => `ended after ${signal}:\n${written.join('')}`);
  };
  const dispose = async (): Promise<void> => {
    await end('SIGKILL');
    await own?.[Symbol.asyncDispose]();
  };
  try {
    const url = await inTime(
      addressOf(child, written, ended),
      () => `told its address:\n${written.join('')}`,
    );
    return {
      url,
      pid: child.pid ?? 0,
      data,
      ended,
      ends: () => inTime(ended, () => `ended by itself:\n${written.join('')}`),
      output: () => written.join(''),
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function launch(data: string, options: GatewayOptions): ChildProcess {
  const command = [
    ...(options.under ?? []),
    options.node ?? process.execPath,
    options.command ?? COMMAND,
    'serve',
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    '--data',
    data,
    ...(options.args ?? []),
  ];
  const [program = '', ...args] = command;
  return spawn(program, args, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function endOf(child: ChildProcess): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  child.once('close', (code, signal) => resolve({ code, signal }));
  child.once('error', () => resolve({ code: null, signal: null }));
  return promise;
}

const ADDRESS = /"(http:\/\/(?:[\d.]+|\[[\d:a-f]+\]|localhost):\d+|unix:[^"]+)\/?"/;

/** The log is one JSON object a line; the first one with an address in it is the one. */
async function addressOf(
  child: ChildProcess,
  written: string[],
  ended: Promise<Ending>,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let line = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    written.push(text);
    line += text;
    const found = ADDRESS.exec(line)?.[1];
    if (found !== undefined) resolve(found);
    line = line.slice(line.lastIndexOf('\n') + 1);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => written.push(text));
  child.once('error', reject);
  void ended.then(({ code, signal }) =>
    reject(new Error(`The gateway ended with ${code ?? signal}:\n${written.join('')}`)),
  );
  return await promise;
}

async function inTime<T>(promise: Promise<T>, what: () => string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Never ${what()}`)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
