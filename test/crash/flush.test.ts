// Flushes to the disk that fail, and flushes that take long.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Answer } from '../../conformance/answer.ts';
import { Gateway } from '../../conformance/gateway.ts';
import { until } from '../../conformance/until.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { assertSound, Ledger, type Submission, unusedFiles } from './ledger.ts';
import { assertAllReadable, untilWritable, untilReadOnly, stateOf } from './status.ts';
import { injectIntoFlushes } from './strace.ts';
import { needs } from '../needs.ts';

/** Small and large ones of every kind, with keys and without. */
function several(ledger: Ledger, count: number): Submission[] {
  return Array.from({ length: count }, (_, at) => {
    const kind = at % 5 === 0 ? 'resonance' : at % 2 === 0 ? 'garden' : 'seeds';
    return ledger.newSubmission(kind, at % 10 === 3 ? 200_000 : 20, at % 3 > 0);
  });
}

async function sayAll(
  ledger: Ledger,
  visitor: Gateway,
  sayings: readonly Submission[],
): Promise<Answer[]> {
  return await Promise.all(sayings.map((submission) => ledger.submit(visitor, submission)));
}

async function keepAll(
  ledger: Ledger,
  visitor: Gateway,
  sayings: readonly Submission[],
): Promise<void> {
  for (const answer of await sayAll(ledger, visitor, sayings)) answer.expect(201);
}

function refused(answer: Answer): void {
  answer.problem(503, 'unavailable');
  assert.match(answer.header('retry-after') ?? '', /^\d+$/);
}

/** Of each change of whether entries can be stored: the code of the cause, or that it has gone. */
function reportedCauses(gateway: GatewayProcess): string[] {
  const changes = gateway.output().matchAll(/^\{.*"msg":"(?:holding|breathing): entries .*$/gm);
  return Array.from(changes, ([line]) => /"code":"([^"]*)"/.exec(line)?.[1] ?? 'breathing');
}

test(
  'flushes that fail: nothing is acknowledged, reading goes on, storing resumes',
  needs('strace'),
  async () => {
    await using folder = await dataFolder();
    const ledger = new Ledger();
    let entries: number;
    // SQLITE_IOERR_FSYNC
    const causes = ['SQLite 1034', 'breathing', 'SQLite 1034', 'breathing'];
    {
      await using gateway = await startGatewayProcess({ data: folder.path });
      using visitor = new Gateway(gateway.url);
      for (let round = 0; round < 2; round += 1) {
        await keepAll(ledger, visitor, several(ledger, 40));
        {
          await using _ = await injectIntoFlushes(gateway.pid, 'error=EIO');
          for (const answer of await sayAll(ledger, visitor, several(ledger, 40))) refused(answer);
          for (const submission of several(ledger, 10))
            refused(await ledger.submit(visitor, submission));
          await untilReadOnly(visitor);
          await assertAllReadable(ledger, visitor);
          assert.equal(await stateOf(visitor), 'holding');
        }
        await untilWritable(visitor);
        await keepAll(ledger, visitor, ledger.unanswered);
        await keepAll(ledger, visitor, several(ledger, 40));
        entries = await ledger.compare(visitor);
        await assertSound(folder.path, entries);
        assert.deepEqual(await unusedFiles(folder.path), []);
        assert.deepEqual(reportedCauses(gateway), causes.slice(0, 2 * (round + 1)));
      }
      await gateway.kill();
    }
    await using gateway = await startGatewayProcess({ data: folder.path });
    using visitor = new Gateway(gateway.url);
    await assertSound(folder.path, await ledger.compare(visitor));
    await keepAll(
      ledger,
      visitor,
      ledger.acknowledged.filter(({ key }) => key !== undefined),
    );
  },
);

test(
  'flushes that begin to fail, then a kill: keys are kept once, whatever was written',
  needs('strace'),
  async () => {
    await using folder = await dataFolder();
    const ledger = new Ledger();
    for (let round = 0; round < 3; round += 1) {
      await using gateway = await startGatewayProcess({ data: folder.path });
      using visitor = new Gateway(gateway.url);
      await keepAll(ledger, visitor, ledger.unanswered);
      await assertSound(folder.path, await ledger.compare(visitor));
      await using _ = await injectIntoFlushes(gateway.pid, `error=EIO:when=${5 + round * 4}+`);
      for (let refusals = 0, turn = 0; refusals < 3; turn += 1) {
        assert.ok(turn < 100, 'nothing is refused');
        const answers = await sayAll(ledger, visitor, several(ledger, 20));
        for (const answer of answers) if (answer.status !== 201) refused(answer);
        if (answers.every(({ status }) => status !== 201)) refusals += 1;
      }
      await assertAllReadable(ledger, visitor);
      await gateway.kill();
    }
    await using gateway = await startGatewayProcess({ data: folder.path });
    using visitor = new Gateway(gateway.url);
    await keepAll(ledger, visitor, ledger.unanswered);
    await assertSound(folder.path, await ledger.compare(visitor));
  },
);

test('flushes that take long: many speak at once, and all are kept', needs('strace'), async () => {
  await using gateway = await startGatewayProcess();
  using visitor = new Gateway(gateway.url);
  const ledger = new Ledger();
  {
    await using _ = await injectIntoFlushes(gateway.pid, 'delay_enter=30000');
    for (let round = 0; round < 3; round += 1) {
      await keepAll(ledger, visitor, several(ledger, 200));
      assert.equal(await stateOf(visitor), 'breathing');
    }
  }
  const entries = await ledger.compare(visitor);
  assert.equal(entries, 600);
  await assertSound(gateway.data, entries);
});

test(
  'flushes that take long: many uploads that wait for them delay no reader',
  needs('strace'),
  async () => {
    // With several threads that serve, which share the threads for files.
    await using gateway = await startGatewayProcess({ args: ['--threads', '2'] });
    using visitor = new Gateway(gateway.url);
    using reader = new Gateway(gateway.url);
    const large = (words: number): string => JSON.stringify({ text: 'word '.repeat(words) });
    // More pieces than an upload has flushes.
    const { entry } = await visitor.contribute('seeds', large(2_000_000));
    await reader.openApi();
    const uploads: Promise<string>[] = [];
    {
      await using _ = await injectIntoFlushes(gateway.pid, 'delay_enter=500000');
      for (let count = 0; count < 40; count += 1) {
        uploads.push(visitor.contribute('seeds', large(20_000)).then(() => 'stored'));
      }
      await until(
        async () => (await unusedFiles(gateway.data)).length,
        (count) => count >= 20,
      );
      const read = Promise.all([
        reader.get(entry.path),
        reader.get('/api/seeds?limit=1&order=oldest', { 'accept-encoding': 'gzip' }),
      ]).then((answers) => {
        for (const answer of answers) answer.expect(200);
        return 'read';
      });
      assert.equal(await Promise.race([read, ...uploads]), 'read');
    }
    await Promise.all(uploads);
  },
);
