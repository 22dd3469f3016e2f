// System calls on files fail in every thread of a gateway, which goes on and recovers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Gateway } from '../../conformance/gateway.ts';
import { until } from '../../conformance/until.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { assertSound, Ledger } from './ledger.ts';
import { untilWritable } from './status.ts';
import { inject } from './strace.ts';
import { needs } from '../needs.ts';

const ERRORS = ['EIO', 'ENOSPC', 'EROFS', 'EMFILE', 'ENOENT', 'EACCES'];
/** Calls on files. `write` is not among them: it also writes to sockets and standard output. */
const FILE_CALLS =
  'openat,pread64,pwrite64,fsync,fdatasync,ftruncate,unlink,link,rename,mkdir,statx,newfstatat';
// `mkdir` never says ENOENT for ever. Node would try for ever, where a thread starts that has a compile cache.
const READS = [
  '/api',
  '/api/garden',
  '/api/entries?order=oldest',
  '/api/rooms',
  '/api/search?q=word*&limit=10',
  '/api/search?q=word*&order=newest&identity=nobody',
  '/api/discover',
  '/openapi.json',
  '/feed.atom',
];

const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
/** It is read by way of a temporary file. */
const LONG_MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search', arguments: { query: 'word '.repeat(60_000) } },
});

/** Speaks and reads over connections of its own, so that each thread of the gateway has some. */
async function statusesOf(url: string, ledger: Ledger): Promise<number[]> {
  using visitor = new Gateway(url);
  const sayings = [20, 200_000, 20].map((size) => ledger.newSubmission('garden', size, true));
  const answers = await Promise.allSettled([
    ...sayings.map((saying) => ledger.submit(visitor, saying)),
    ...READS.map((path) => visitor.get(path)),
    visitor.request('POST', '/mcp', MCP_HEADERS, LONG_MESSAGE),
  ]);
  // An answer that has been broken off is none.
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.status : []));
}

test(
  'no fault of a disk ends the process, and all works once it is over',
  needs('strace'),
  async () => {
    await using folder = await dataFolder();
    const ledger = new Ledger();
    await using gateway = await startGatewayProcess({
      data: folder.path,
      args: ['--threads', '2'],
    });
    using visitor = new Gateway(gateway.url);
    await statusesOf(gateway.url, ledger);
    for (const error of ERRORS) {
      {
        const calls = error === 'ENOENT' ? FILE_CALLS.replace('mkdir,', '') : FILE_CALLS;
        await using _ = await inject(gateway.pid, calls, `error=${error}`);
        for (let count = 0; count < 2; count += 1) {
          const statuses = await statusesOf(gateway.url, ledger);
          for (const status of statuses) assert.ok([200, 201, 500, 503, 507].includes(status));
          await pause(100);
        }
      }
      await untilWritable(visitor);
      for (const saying of ledger.unanswered) (await ledger.submit(visitor, saying)).expect(201);
    }
    // A search may still be refused while its index is made again.
    await until(
      () => statusesOf(gateway.url, ledger),
      (statuses) => statuses.every((status) => status < 300),
    );
    await assertSound(folder.path, await ledger.compare(visitor));
  },
);

test('errors of accept end no process', needs('strace'), async () => {
  await using gateway = await startGatewayProcess({ args: ['--threads', '2'] });
  for (const error of ['ENOBUFS', 'EMFILE']) {
    {
      await using _ = await inject(gateway.pid, 'accept4', `error=${error}`);
      const refused = Array.from({ length: 8 }, () =>
        fetch(gateway.url, { signal: AbortSignal.timeout(300) }),
      );
      await Promise.allSettled(refused);
    }
    assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
  }
});
