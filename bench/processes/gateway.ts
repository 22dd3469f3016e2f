/** The gateway being measured: the real command in its own process. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { startProcess, type Child } from './child-process.ts';
import { freePort } from '../../test/gateway-process.ts';
import { sendRequest } from '../clients/http.ts';

const COMMAND = fileURLToPath(import.meta.resolve('../../packages/cli/presence.js'));
const START_TIMEOUT_MS = 120_000;

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Resolves when `/readyz` answers 200. */
export async function startGateway(
  bench: BenchContext,
  folder: string,
  ...flags: readonly string[]
): Promise<Gateway> {
  return await startGatewayUnder(bench, [], folder, flags);
}

/** The same, run by another command, which must become the gateway's process. */
export async function startGatewayUnder(
  bench: BenchContext,
  runner: readonly string[],
  folder: string,
  flags: readonly string[] = [],
): Promise<Gateway> {
  const port = await freePort();
  const logFile = join(bench.scratch, `gateway-${port}.log`);
  // Logging to a file costs the gateway what it costs in service, and this process nothing.
  const output = openSync(logFile, 'w');
  const args = ['--port', String(port), '--host', '127.0.0.1', '--data', folder, ...flags];
  const command = [...runner, process.execPath, COMMAND, 'serve', ...args];
  const child = await startProcess(bench, command, ['ignore', output, output]);
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  const dispose = async (): Promise<void> => {
    await child[Symbol.asyncDispose]();
    await rm(logFile, { force: true });
  };
  try {
    await waitUntilReady(bench, child, url);
  } catch (error) {
    const log = readFileSync(logFile, 'utf8').slice(-4000);
    await dispose();
    throw new Error(`Cannot start the gateway on ${folder}:\n${log}`, { cause: error });
  }
  return { url, pid: child.pid, [Symbol.asyncDispose]: dispose };
}

async function waitUntilReady(bench: BenchContext, child: Child, url: string): Promise<void> {
  const until = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < until) {
    if (child.exitStatus() !== undefined) throw new Error(`It ended with ${child.exitStatus()}`);
    const status = await sendRequest(`${url}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await sleep(3, undefined, { signal: bench.signal });
  }
  throw new Error(`It was not ready after ${START_TIMEOUT_MS / 1000} s`);
}
