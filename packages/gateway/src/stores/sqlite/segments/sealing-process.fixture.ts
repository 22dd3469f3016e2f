/** Says, seals and withholds as fast as it can, until it is killed. */
import { draftOf } from '../../../log/log.fixture.ts';
import { openSqliteLog } from '../store.ts';

const log = await openSqliteLog({ folder: process.argv[2] ?? '', segmentSize: 64 });
process.send?.('open');
for (;;) {
  const body = '"identity":"Lumen","text":"moss"';
  const drafts = Array.from({ length: 50 }, () =>
    draftOf({ body, members: { identity: ['Lumen'] } }),
  );
  await Promise.all(drafts.map((draft) => log.append(draft)));
  await log.withhold([Math.max(1, log.head() - 70)], 'spam');
}
