/** The peer that many would pick: Fastify in front of PostgreSQL, which flushes each commit. */
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { bringTools } from '../../test/tools.ts';
import { runCommand, startProcess } from '../processes/child-process.ts';
import { pathOf } from '../processes/external-tools.ts';
import { freePort } from '../../test/gateway-process.ts';
import { sendRequest } from '../clients/http.ts';
import { type ListedStore, waitUntilReady } from './peer.ts';

const FASTIFY = fileURLToPath(import.meta.resolve('./fastify/'));
/** PostgreSQL refuses to run as root: then it runs as this user, Debian's `nobody`. */
const ORDINARY_USER = 65_534;

/** Its data and its socket are in the folder. It has that many `entries` at the start. */
export async function startPostgres(
  bench: BenchContext,
  folder: string,
  entries = 0,
): Promise<ListedStore & { readonly allUrl: string }> {
  bringTools(FASTIFY);
  await using started = new AsyncDisposableStack();
  const runner = await ordinaryUser(folder);
  const data = join(folder, 'data');
  const cluster = ['--pgdata', data, '--username=postgres', '--auth=trust', '--locale=C.UTF-8'];
  await runCommand(bench, [...runner, pathOf('initdb'), ...cluster]);
  const settings = ['listen_addresses=', 'synchronous_commit=on', 'log_min_messages=fatal'];
  const flags = ['-D', data, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])];
  const command = [...runner, pathOf('postgres'), ...flags];
  const postgres = started.use(await startProcess(bench, command, ['ignore', 'ignore', 'inherit']));
  const port = await freePort();
  const server = [process.execPath, join(FASTIFY, 'server.ts'), String(port), folder];
  const child = await startProcess(bench, [...server, String(entries)], 'inherit');
  const { url, pid } = started.use(
    await waitUntilReady(bench, child, { url: `http://127.0.0.1:${port}` }),
  );
  const rest = started.move();
  return {
    pids: [pid, postgres.pid],
    append: { url: `${url}/api/garden`, sendBy: 'POST' },
    newestUrl: `${url}/api/garden?limit=50`,
    allUrl: `${url}/api/garden/all`,
    length: async () => {
      const { text } = await sendRequest(`${url}/count`);
      return Number(/\d+/.exec(text)?.[0]);
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

/** What to put before a command that root may not run. Gives that user the folder. */
async function ordinaryUser(folder: string): Promise<readonly string[]> {
  if (process.getuid?.() !== 0) return [];
  await chown(folder, ORDINARY_USER, ORDINARY_USER);
  const ids = [`--reuid=${ORDINARY_USER}`, `--regid=${ORDINARY_USER}`, '--clear-groups'];
  return ['setpriv', ...ids];
}
