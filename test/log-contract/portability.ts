/** Entries that common JSON readers refuse stand beside others in their portable form (PROTOCOL.md section 4.8). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import { bodyOf, type DraftFields, ROOMS } from '../../packages/gateway/src/log/log.fixture.ts';
import type { Log } from '../../packages/gateway/src/log/log.ts';
import { CheckedLog } from './checked-log.ts';
import { assertSameBytes, collect, join, type Open, type Reopenable } from './fixtures.ts';

/** Makes an entry large: it gets a file of its own. */
const PAD = `,"pad":"${Buffer.from(bodyOf(1_000_000, 1)).toString('latin1').slice(9)}`;
const MEMBERS = { members: { identity: ['odd'] } };
const RESPELLED = {
  portability: 'respelled',
  body: `"a":"\u2028 ${String.raw`\ud83d`}"`,
  ...MEMBERS,
} as const;
const OMITTED = { portability: 'omitted', body: '"a":1e999', ...MEMBERS } as const;
const SMALL: readonly DraftFields[] = [RESPELLED, OMITTED, MEMBERS];
const LARGE: readonly DraftFields[] = SMALL.map((fields) => ({
  ...fields,
  body: (fields.body ?? '"a":1').toString() + PAD,
}));
/** Fill several stored chunks, since all are of one kind. */
const MANY: readonly DraftFields[] = Array.from({ length: 1200 }, (_, at) => ({
  ...(SMALL[at % 7] ?? { room: ROOMS[at % 3] ?? ROOMS[0] }),
  body: `${(SMALL[at % 7]?.body ?? '"a":1').toString()},"b":"${'b'.repeat(2000)}"`,
  kind: 'seeds',
}));

async function filled(log: Log): Promise<CheckedLog> {
  const checked = new CheckedLog(log);
  await checked.appendAll([...SMALL, ...SMALL.map((fields, at) => ({ ...fields, key: `${at}` }))]);
  for (const fields of [...SMALL, ...LARGE]) await checked.appendSpooled(fields);
  await checked.appendAll(MANY);
  return checked;
}

/** Holds if what reads several entries gives the portable form, and nothing else does. */
async function checkForms(checked: CheckedLog): Promise<void> {
  const { log } = checked;
  await checked.checkAll();
  for (const order of ['newest', 'oldest'] as const) {
    await checked.check({ order, facets: [facet('identity', 'odd')] });
    await checked.check({ order, facets: [facet('kind', 'seeds')], limit: 900 });
  }
  const exact: Buffer[] = [];
  for (const { metadata, exact: text } of checked.entries) {
    const entry = (await log.entry(metadata.seq, 'exact')) ?? assert.fail();
    assertSameBytes(await join(entry.chunks()), text, `exact entry ${metadata.seq}`);
    exact.push(text);
  }
  const { items } = await collect(log.readChain({}));
  const lines = Buffer.concat(items).toString('latin1').split('\n').slice(0, -1);
  const entries = lines.map((line) => line.slice(line.indexOf('"entry":') + 8, -1));
  assertSameBytes(
    Buffer.from(entries.join('\n'), 'latin1'),
    Buffer.from(exact.map((text) => text.toString('latin1')).join('\n'), 'latin1'),
    'readChain()',
  );
}

export function describePortability(open: Open): void {
  describe('an entry that common readers refuse', () => {
    it('is portable wherever it stands beside others, and exact where it alone is asked for', async () => {
      await using opened = await open();
      await checkForms(await filled(opened.log));
    });

    it('can be read from any byte on', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      for (const fields of [...SMALL, ...LARGE]) await checked.appendSpooled(fields);
      for (const { metadata, text, exact } of checked.entries)
        for (const form of [undefined, 'exact'] as const) {
          const entry = (await opened.log.entry(metadata.seq, form)) ?? assert.fail();
          const whole = form === 'exact' ? exact : text;
          for (const from of [1, 120, 185, 190, 195, whole.length - 1, whole.length])
            assertSameBytes(
              await join(entry.chunks(from)),
              whole.subarray(from),
              `entry ${metadata.seq} from ${from}`,
            );
        }
    });

    it('is not the newest of a facet where it is omitted', async () => {
      await using opened = await open();
      const checked = await filled(opened.log);
      const newest = opened.log.readNewestOfIdentities({ maxSize: 16_384 });
      for await (const { metadata, portability } of newest) {
        assert.notEqual(portability, 'omitted');
        assert.ok(checked.entries[metadata.seq - 1]?.text.indexOf('"omitted"') === -1);
      }
    });

    it('says nothing more of that when it is withheld', async () => {
      await using opened = await open();
      const checked = await filled(opened.log);
      await checked.withhold(checked.entries.slice(0, 60).map(({ metadata }) => metadata.seq));
      await checkForms(checked);
    });
  });
}

export function describeLastingPortability(open: () => Promise<Reopenable>): void {
  it('entries that common readers refuse stay portable', async () => {
    await using opened = await open();
    const checked = await filled(opened.log);
    for (let round = 0; round < 2; round += 1) {
      checked.log = await opened.reopen();
      await checkForms(checked);
      await checked.appendAll(MANY.slice(0, 50));
    }
    checked.log = (await opened.another?.()) ?? checked.log;
    await checked.log.caughtUp();
    await checkForms(checked);
  });
}
