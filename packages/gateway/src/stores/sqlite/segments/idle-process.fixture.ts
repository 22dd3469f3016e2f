/**
 * Sends, again and again, how many system calls of reading it makes in three seconds while nobody says
 * anything. At first there may still be something to do.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { draftOf } from '../../../log/log.fixture.ts';
import { untilSearchable } from '../../../search/search.fixture.ts';
import { openSqliteLog } from '../store.ts';

const log = await openSqliteLog({ folder: process.argv[2] ?? '' });
const drafts = Array.from({ length: 5000 }, () => draftOf({ body: '"text":"moss"' }));
await Promise.all(drafts.map((draft) => log.append(draft)));
await untilSearchable(log);
for (;;) {
  const before = reads();
  await pause(3000);
  process.send?.(reads() - before);
}

function reads(): number {
  const [, count = '0'] = /^syscr: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? [];
  return Number(count);
}
