import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../../conformance/until.ts';
import { draftOf } from '../log/log.fixture.ts';
import { StorageFault } from '../storage-fault.ts';
import { openMemoryLog } from '../../../../test/support/memory-log/memory-log.ts';
import { type Cases, WithholdingNotifier } from './withholding-notifier.ts';

test('withholdings that a failing disk hides are reported with the next one', async () => {
  await using log = openMemoryLog();
  for (let count = 0; count < 3; count += 1) await log.append(draftOf());
  const reported: number[] = [];
  const told: Cases[] = [];
  using _ = WithholdingNotifier.of(log).listen({
    onBatch(batch) {
      for (const { metadata } of batch) reported.push(metadata.seq);
    },
    onCases: (cases) => void told.push(...cases),
  });
  const read = log.withholdings.bind(log);
  let failures = 0;
  log.withholdings = () => {
    failures += 1;
    throw new StorageFault('The disk does not answer.');
  };
  await log.withhold([1], 'spam');
  await until(
    async () => failures,
    (count) => count > 0,
    () => 'The withholding is not read.',
  );
  assert.deepEqual(reported, []);
  log.withholdings = read;
  await log.withhold([3], 'spam');
  await until(
    async () => reported.length,
    (count) => count >= 2,
    () => `Only ${reported.join()} are reported.`,
  );
  assert.deepEqual(reported, [1, 3]);
  await until(
    async () => told.length,
    (count) => count > 0,
    () => 'No cases are told.',
  );
  assert.deepEqual(told, [{ first: 1, last: 2, state: 'withheld' }]);
});
