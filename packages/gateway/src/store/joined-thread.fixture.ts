/** A thread that joins a log. Posts the text of entry 1, then the seqs of the entries it appends. */
import { parentPort, workerData } from 'node:worker_threads';

import { draftOf, metadataOf } from '../log/log.fixture.ts';
import { type SqliteConnection, SqliteLog } from './sqlite-log.ts';

await using log = new SqliteLog(workerData as SqliteConnection);
const entry = await log.entry(1);
parentPort?.postMessage(Buffer.from(entry?.text ?? []).toString());

const reached = new Promise<void>((resolve) => {
  const watching = log.watch(() => {
    if (log.head() < 102) return;
    watching[Symbol.dispose]();
    resolve();
  });
});
const appended = await Promise.all(Array.from({ length: 50 }, () => log.append(draftOf())));
appended.push(await log.append(draftOf()));
parentPort?.postMessage(appended.map((one) => metadataOf(one).seq));
await reached;
