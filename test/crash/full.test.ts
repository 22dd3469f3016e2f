// A disk that is full.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Answer } from '../../conformance/answer.ts';
import { Gateway, traceBody } from '../../conformance/gateway.ts';
import { run } from '../command.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { MIB, smallDisk } from './disk.ts';
import { assertSound, Ledger, unusedFiles } from './ledger.ts';
import { assertAllReadable, stateOf, untilFull, untilReadOnly, untilWritable } from './status.ts';
import { needs } from '../needs.ts';

function refused(answer: Answer): void {
  answer.problem(507, 'out-of-space');
  assert.match(answer.header('retry-after') ?? '', /^\d+$/);
}

/** Speaks until nothing more is kept, not even the smallest entry. */
async function speakUntilFull(ledger: Ledger, visitor: Gateway): Promise<void> {
  for (const size of [200_000, 20_000, 1]) {
    for (let refusals = 0; refusals < 3;) {
      const sayings = Array.from({ length: 8 }, (_, at) =>
        ledger.newSubmission('garden', size, at % 2 === 0),
      );
      const answers = await Promise.all(
        sayings.map((submission) => ledger.submit(visitor, submission)),
      );
      for (const answer of answers) if (answer.status !== 201) refused(answer);
      if (answers.every(({ status }) => status !== 201)) refusals += 1;
    }
  }
}

test(
  'a full disk: nothing acknowledged is lost, reading goes on, storing resumes',
  needs('to mount a disk'),
  async (t) => {
    await using disk = await smallDisk(48 * MIB, 16 * MIB);
    const { data } = disk;
    const ledger = new Ledger();
    let entries: number;
    {
      await using gateway = await startGatewayProcess({ data });
      using visitor = new Gateway(gateway.url);
      (await ledger.submit(visitor, ledger.newSubmission('resonance', 10, true))).expect(201);
      await speakUntilFull(ledger, visitor);
      await disk.fill();
      await speakUntilFull(ledger, visitor);
      await untilReadOnly(visitor);
      await assertAllReadable(ledger, visitor);
      for (const kind of ['garden', 'resonance', 'seeds', 'shepit'] as const) {
        for (const size of [1, 60_000, 200_000, 3_000_000]) {
          // Indexing and checkpoints may free a little once more.
          for (;;) {
            const answer = await ledger.submit(visitor, ledger.newSubmission(kind, size, true));
            if (answer.status !== 201) {
              refused(answer);
              break;
            }
            await disk.fill();
          }
        }
      }
      assert.equal(await stateOf(visitor), 'holding');
      const { stdout } = await run('read-only', data);
      assert.match(stdout, /^Not read-only, but no entries are stored/);
      assert.deepEqual(await unusedFiles(data), []);
      await gateway.kill();
    }
    {
      // What was acknowledged can be read by one that wakes while the disk is full.
      await using gateway = await startGatewayProcess({ data });
      using visitor = new Gateway(gateway.url);
      await assertAllReadable(ledger, visitor);
      // A start removes what was derived and not closed, so it may have some room again.
      await disk.fill();
      await speakUntilFull(ledger, visitor);
      await untilReadOnly(visitor);
      await assertAllReadable(ledger, visitor);
      refused(await ledger.submit(visitor, ledger.newSubmission('garden', 200_000, true)));
      await disk.free();
      await untilWritable(visitor);
      const small = ledger.unanswered.filter(({ body }) => body.length < 100_000);
      for (const submission of small) (await ledger.submit(visitor, submission)).expect(201);
      for (const size of [1, 200_000]) {
        (await ledger.submit(visitor, ledger.newSubmission('garden', size, false))).expect(201);
      }
      entries = await ledger.compare(visitor);
      await assertSound(data, entries);
      await gateway.kill();
    }
    await using gateway = await startGatewayProcess({ data });
    using visitor = new Gateway(gateway.url);
    assert.equal(await ledger.compare(visitor), entries);
    await assertSound(data, entries);
    t.diagnostic(`${entries} entries, ${ledger.acknowledged.length} acknowledged`);
  },
);

test('an upload that fills the disk leaves nothing', needs('to mount a disk'), async () => {
  await using disk = await smallDisk(24 * MIB);
  const { data } = disk;
  await using gateway = await startGatewayProcess({ data });
  using visitor = new Gateway(gateway.url);
  const ledger = new Ledger();
  (await ledger.submit(visitor, ledger.newSubmission('garden', 1, false))).expect(201);
  for (const keyed of [true, false]) {
    refused(await ledger.submit(visitor, ledger.newSubmission('garden', 30 * MIB, keyed)));
    assert.deepEqual(await unusedFiles(data), []);
  }
  await untilWritable(visitor);
  (await ledger.submit(visitor, ledger.newSubmission('garden', 3 * MIB, false))).expect(201);
  await assertSound(data, await ledger.compare(visitor));
});

test(
  'lines are answered on a full disk too, where results cannot wait for the last line',
  needs('to mount a disk'),
  async () => {
    await using disk = await smallDisk(24 * MIB);
    await using gateway = await startGatewayProcess({ data: disk.data });
    using visitor = new Gateway(gateway.url);
    await untilFull(disk, visitor);
    // More results than wait in memory.
    const lines = '{}\n'.repeat(5000);
    for (const prefer of ['return=minimal', 'duplex=half']) {
      const headers = { 'content-type': 'application/x-ndjson', prefer };
      const { text } = (await visitor.post('seeds', lines, headers)).expect(200);
      assert.ok(text.length > MIB / 2, `${text.length} characters`);
      // A checkpoint may free a little once more.
      const results = text.matchAll(/^\{"line":(\d+),"status":(?:507|201),.*\}$/gm);
      assert.deepEqual(
        Array.from(results, ([, line]) => Number(line)),
        Array.from({ length: 5000 }, (_, n) => n + 1),
      );
    }
  },
);

test(
  'a gateway that wakes for the first time on a full disk says so',
  needs('to mount a disk'),
  async () => {
    await using disk = await smallDisk(8 * MIB);
    await disk.fill();
    await assert.rejects(startGatewayProcess({ data: disk.data }), /ended with 1/);
    await disk.free();
    await using gateway = await startGatewayProcess({ data: disk.data });
    using visitor = new Gateway(gateway.url);
    await untilWritable(visitor);
  },
);

test(
  'what was said can be hidden, shown and withheld on a full disk',
  needs('to mount a disk'),
  async () => {
    await using disk = await smallDisk(32 * MIB);
    const { data } = disk;
    const ids: string[] = [];
    const yes = ['--reason', 'A flood', '--yes'];
    {
      await using gateway = await startGatewayProcess({ data });
      using visitor = new Gateway(gateway.url);
      for (const size of [1, 1, 200_000, 1]) {
        const { entry } = await visitor.contribute(
          'garden',
          traceBody('flood', { text: 'x'.repeat(size) }),
        );
        ids.push(entry.id);
      }
      // Truncates the WAL, which would have room for a little more.
      assert.equal((await run('withhold', data, ids.pop() ?? '', ...yes)).code, 0);
      await untilFull(disk, visitor);
      const hidden = await run('hide', data, ...ids, ...yes);
      assert.equal(hidden.code, 0, hidden.stderr);
      for (const id of ids)
        assert.match((await visitor.get(`/api/entries/${id}`)).text, /"withheld":/);
      assert.equal((await run('show', data, ids[0] ?? '', ...yes)).code, 0);
      await disk.fill();
      refused(await visitor.post('seeds', `{"a":"${'x'.repeat(100_000)}"}`));
    }
    // On the folder alone, without a reserve.
    const withheld = await run('withhold', data, ids[2] ?? '', ...yes);
    assert.equal(withheld.code, 0, withheld.stderr);
    await disk.free();
    await using gateway = await startGatewayProcess({ data });
    using visitor = new Gateway(gateway.url);
    await untilWritable(visitor);
    assert.match((await visitor.get(`/api/entries/${ids[0]}`)).text, /"text":"x"/);
  },
);
