/**
 * The peer that is easiest to set up: PocketBase, an HTTP server over SQLite, as it is delivered. It
 * does not flush each write.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { runCommand, startProcess } from '../processes/child-process.ts';
import { pathOf } from '../processes/external-tools.ts';
import { freePort } from '../../test/gateway-process.ts';
import { sendRequest } from '../clients/http.ts';
import { type ListedStore, waitUntilReady } from './peer.ts';

const FIND_PROGRAM = fileURLToPath(import.meta.resolve('../../scripts/debian-program.sh'));

/** Makes the collection, which everyone may read and add to. */
const MIGRATION = `migrate((app) => app.save(new Collection({
  type: 'base',
  name: 'garden',
  listRule: '',
  createRule: '',
  fields: [
    { type: 'text', name: 'text', required: true },
    { type: 'text', name: 'identity', required: true },
    { type: 'text', name: 'identityType', required: true },
    { type: 'autodate', name: 'created', onCreate: true },
  ],
  indexes: ['CREATE INDEX garden_created ON garden (created)'],
})));`;

/** Its data is in the folder. It has that many `entries` at the start. */
export async function startPocketBase(
  bench: BenchContext,
  folder: string,
  entries = 0,
): Promise<ListedStore> {
  const program = (await runCommand(bench, [FIND_PROGRAM, 'pocketbase', 'usr/bin/base'])).trim();
  const migrations = join(folder, 'migrations');
  await mkdir(migrations);
  await writeFile(join(migrations, '1_garden.js'), MIGRATION);
  const data = join(folder, 'data');
  const flags = ['--dir', data, '--migrationsDir', migrations, '--automigrate=false'];
  await runCommand(bench, [program, 'migrate', 'up', ...flags]);
  // Without a superuser, it would open a browser to have one made.
  const superuser = ['superuser', 'upsert', 'bench@example.com', 'only-on-loopback'];
  await runCommand(bench, [program, ...superuser, ...flags]);
  await runCommand(bench, [pathOf('sqlite3'), join(data, 'data.db'), fill(entries)]);
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const command = [program, 'serve', '--http', address, ...flags];
  const child = await startProcess(bench, command, ['ignore', 'ignore', 'inherit']);
  const { url, pid, ...rest } = await waitUntilReady(bench, child, { url: `http://${address}` });
  const records = `${url}/api/collections/garden/records`;
  return {
    ...rest,
    pids: [pid],
    append: { url: records, sendBy: 'POST' },
    newestUrl: `${records}?perPage=50&sort=-created&skipTotal=true`,
    length: async () => {
      const { text } = await sendRequest(`${records}?perPage=1`);
      return Number(/"totalItems":(\d+)/.exec(text)?.[1]);
    },
  };
}

function fill(entries: number): string {
  return `INSERT INTO garden (text, identity, identityType, created)
    SELECT 'Trace ' || value || replace(printf('%11s', ''), ' ', ' a trace of light'),
      'visitor-' || (value % 1000), 'ai_entity',
      strftime('%Y-%m-%d %H:%M:%fZ', 'now', ((value - ${entries}) / 100.0) || ' seconds')
    FROM generate_series(1, ${entries})`;
}
