/** Keys: the same one with the same content is the same entry (PROTOCOL.md section 7.4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { AppendResult, Log, Seq } from '../../packages/gateway/src/log/log.ts';
import {
  bodyOf,
  cut,
  draftOf,
  fill,
  randomOf,
  ROOMS,
  metadataOf,
  type DraftFields,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { type Open } from './fixtures.ts';
import { appendSmall, CheckedLog, sharedLog } from './checked-log.ts';

function fieldsWith(key: string): DraftFields {
  return { key, body: '"text":"once"', members: { to: ['Mova'] } };
}

/** What differs from `fieldsWith` in other than the key. */
const CHANGES: readonly DraftFields[] = [
  { kind: 'seeds' },
  { room: ROOMS[1] },
  { body: '"text":"twice"' },
  { body: '"text": "once"' },
  { body: '' },
];

export function describeKeys(open: Open): void {
  describe('a key', () => {
    describeOneAfterAnother(open);
    describeAtOnce(open);
    describeSpooled(open);
  });
}

function describeOneAfterAnother(open: Open): void {
  const shared = sharedLog(open);
  it('with the same content again is the same entry, at any later time', async () => {
    const checked = shared();
    const { log } = checked;
    const fields = fieldsWith('later');
    const { seq } = await checked.append(fields);
    for (let times = 0; times < 3; times++) {
      assertAnswer(await log.append(draftOf(fields)), 'repeated', seq, checked);
      assert.deepEqual(await appendSmall(log, draftOf(fields)), await log.append(draftOf(fields)));
      await checked.appendAll(Array.from({ length: 100 }, () => ({})));
    }
    await checked.checkAll();
  });

  it('with another kind, room or body is a conflict, and nothing is stored', async () => {
    const checked = shared();
    const { log } = checked;
    const fields = fieldsWith('conflict');
    await checked.append();
    const { seq } = await checked.append(fields);
    for (const change of CHANGES) {
      const draft = draftOf({ ...fields, ...change });
      assertAnswer(await log.append(draft), 'conflict', seq, checked);
      assert.equal((await appendSmall(log, draft)).outcome, 'conflict');
    }
    assertAnswer(await log.append(draftOf(fields)), 'repeated', seq, checked);
    await checked.checkAll();
  });

  it('tells apart what another key, or none, says in the same words', async () => {
    const checked = shared();
    const fields = fieldsWith('k');
    await checked.append(fields);
    await checked.append({ ...fields, key: 'K' });
    await checked.append({ ...fields, key: '' });
    const { key: _, ...keyless } = fields;
    await checked.append(keyless);
    await checked.append(keyless);
    await checked.checkAll();
  });

  it('may have any content: also none', async () => {
    const checked = shared();
    const { log } = checked;
    const { seq } = await checked.append({ key: 'empty', body: '' });
    const again = await log.append(draftOf({ key: 'empty', body: '' }));
    assertAnswer(again, 'repeated', seq, checked);
    const other = await log.append(draftOf({ key: 'empty' }));
    assertAnswer(other, 'conflict', seq, checked);
  });
}

function describeAtOnce(open: Open): void {
  const shared = sharedLog(open);
  it('used 50 times at once makes one entry', async () => {
    const checked = shared();
    const { log } = checked;
    const fields = fieldsWith('at once');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => log.append(draftOf(fields))),
    );
    const made = answers.filter(({ outcome }) => outcome === 'appended');
    assert.equal(made.length, 1);
    const { seq } = checked.remember(draftOf(fields), made[0] ?? assert.fail());
    for (const answer of answers.filter((one) => one !== made[0])) {
      assertAnswer(answer, 'repeated', seq, checked);
    }
    await checked.checkAll();
  });

  it('used at once with 50 contents makes one entry and 49 conflicts', async () => {
    const checked = shared();
    const { log } = checked;
    const drafts = Array.from({ length: 50 }, (_, at) => draftOf({ key: 'k', body: `"n":${at}` }));
    const between = checked.appendAll(Array.from({ length: 20 }, () => ({})));
    const answers = await Promise.all(drafts.map((draft) => log.append(draft)));
    await between;
    const first = answers.findIndex(({ outcome }) => outcome === 'appended');
    const draft = drafts[first] ?? assert.fail();
    const { seq } = checked.remember(draft, answers[first] ?? assert.fail());
    for (const answer of answers.toSpliced(first, 1)) {
      assertAnswer(answer, 'conflict', seq, checked);
    }
    await checked.checkAll();
  });

  it('used at once by many, each with two contents, makes an entry for each', async () => {
    await using opened = await open();
    const { log } = opened;
    const keys = Array.from({ length: 500 }, (_, at) => `k${at}`);
    const answers = await Promise.all(
      ['1', '2', '1'].flatMap((body) =>
        keys.map((key) => log.append(draftOf({ key, body: `"n":${body}` }))),
      ),
    );
    const outcomes = Object.groupBy(answers, ({ outcome }) => outcome);
    assert.equal(outcomes.appended?.length, 500);
    assert.equal(outcomes.refused, undefined);
    assert.equal(log.head(), 500);
    for (const at of keys.keys()) {
      const metadata = [0, 500, 1000].map((from) =>
        metadataOf(answers[from + at] ?? assert.fail()),
      );
      assert.equal(new Set(metadata.map(({ id }) => id)).size, 1);
    }
  });
}

function describeSpooled(open: Open): void {
  it('means the same whether the body came whole or through a spool', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    for (const size of [0, 20, 200_000, 2_000_000]) {
      const fields = { key: `whole ${size}`, body: bodyOf(size, 1) };
      const late = { key: `spooled ${size}`, body: bodyOf(size, 1) };
      const whole = await checked.append(fields);
      const spooled = await checked.appendSpooled(late);
      assertAnswer(await atLength(opened.log, fields), 'repeated', whole.seq, checked);
      assertAnswer(await atLength(opened.log, late), 'repeated', spooled.seq, checked);
      assertAnswer(await opened.log.append(draftOf(late)), 'repeated', spooled.seq, checked);
      const other = { ...late, body: bodyOf(size + 1, 1) };
      assertAnswer(await opened.log.append(draftOf(other)), 'conflict', spooled.seq, checked);
      assertAnswer(await atLength(opened.log, other), 'conflict', spooled.seq, checked);
    }
    await checked.checkAll();
  });

  it('with long bodies that differ in one byte is a conflict', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const body = bodyOf(1_500_000, 1);
    const { seq } = await checked.appendSpooled({ key: 'k', body });
    for (const at of [10, 749_999, 1_499_990]) {
      const other = Uint8Array.from(body);
      other[at] = 0x2d;
      const answer = await atLength(opened.log, { key: 'k', body: other });
      assertAnswer(answer, 'conflict', seq, checked);
    }
    await checked.checkAll();
  });

  it('used at once by 10 spooled bodies makes one entry', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const fields = { key: 'k', body: bodyOf(400_000, 1) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => atLength(opened.log, fields)),
    );
    const made = answers.filter(({ outcome }) => outcome === 'appended');
    assert.equal(made.length, 1);
    const { seq } = checked.remember(draftOf(fields), made[0] ?? assert.fail());
    for (const answer of answers.filter((one) => one !== made[0])) {
      assertAnswer(answer, 'repeated', seq, checked);
    }
    await checked.checkAll();
  });
}

async function atLength(log: Log, fields: DraftFields): Promise<AppendResult> {
  const draft = draftOf(fields);
  await using spool = log.spool();
  await fill(spool, cut(draft.body, 70_000, randomOf(draft.body.length)));
  return await log.append({ ...draft, body: spool });
}

function assertAnswer(
  appended: AppendResult,
  outcome: 'repeated' | 'conflict',
  seq: Seq,
  checked: CheckedLog,
): void {
  assert.equal(appended.outcome, outcome);
  assert.deepEqual({ ...metadataOf(appended) }, { ...checked.entries[seq - 1]?.metadata });
  assert.equal(checked.log.head(), checked.entries.length);
}
