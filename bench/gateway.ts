/** The gateway under measure: the real command, in a process of its own. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Bench } from './bench.ts';
import { start, type Child } from './children.ts';
import { ask, freePort } from './http.ts';

const COMMAND = fileURLToPath(import.meta.resolve('../packages/cli/presence.js'));
/** A gateway that isn't ready by then never will be. */
const LONGEST_START_MS = 120_000;

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Resolves when it is ready to serve. Further flags may follow the folder. */
export async function startGateway(
  bench: Bench,
  folder: string,
  ...flags: readonly string[]
): Promise<Gateway> {
  const port = await freePort();
  const said = join(bench.scratch, `gateway-${port}.log`);
  // A file, so that what the gateway logs costs it what it costs in service, and us nothing.
  const output = openSync(said, 'w');
  const where = ['--port', String(port), '--host', '127.0.0.1', '--data', folder, ...flags];
  const command = [process.execPath, COMMAND, 'serve', ...where];
  const child = await start(bench, command, ['ignore', output, output]);
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  const gone = async (): Promise<void> => {
    await child[Symbol.asyncDispose]();
    await rm(said, { force: true });
  };
  try {
    await ready(bench, child, url);
  } catch (error) {
    const words = readFileSync(said, 'utf8').slice(-4000);
    await gone();
    throw new Error(`Cannot start the gateway on ${folder}:\n${words}`, { cause: error });
  }
  return { url, pid: child.pid, [Symbol.asyncDispose]: gone };
}

async function ready(bench: Bench, child: Child, url: string): Promise<void> {
  const until = performance.now() + LONGEST_START_MS;
  while (performance.now() < until) {
    if (child.ended() !== undefined) throw new Error(`It ended with ${child.ended()}`);
    const status = await ask(`${url}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await sleep(3, undefined, { signal: bench.signal });
  }
  throw new Error(`It was not ready after ${LONGEST_START_MS / 1000} s`);
}
