/**
 * What every store must do, as tests: a store's own test file calls one of these functions. It owns
 * the facts that `log.ts` promises, refuses to know any store (it sees only the port), and upholds
 * that no test here asserts a duration. Expectations come from a plain list (`checked-log.ts`),
 * never from another store.
 */
import { describe } from 'node:test';

import { describeRandomSteps } from './random-steps.ts';
import { describeAppending } from './appending.ts';
import { describeCatchingUp } from './catching-up.ts';
import { describeChain } from './chain.ts';
import { describeConcerns } from './concerns.ts';
import { describeCounting } from './counting.ts';
import { describeManyEntries } from './many-entries.ts';
import { describeFiltering } from './filtering.ts';
import type { Opened, Reopenable } from './fixtures.ts';
import { describeKeys } from './idempotency-keys.ts';
import { describeLastingPortability, describePortability } from './portability.ts';
import { describeReading } from './reading.ts';
import { describeReopening } from './reopening.ts';
import { describeSearching } from './searching.ts';
import { describeSnapshots } from './snapshots.ts';
import { describeSpooling } from './spooling.ts';
import { describeLastingThreads, describeThreads } from './threads.ts';
import { describeWatching } from './watching.ts';
import { describeHiding, describeLastingWithholding, describeWithholding } from './withholding.ts';

/** Tests a store. `open` makes a new, empty log each time. */
export function contractOf(name: string, open: () => Promise<Opened>): void {
  describe(name, () => {
    describeAppending(open);
    describeFiltering(open);
    describeReading(open);
    describeCounting(open);
    describeThreads(open);
    describeConcerns(open);
    describeChain(open);
    describeSnapshots(open);
    describeKeys(open);
    describeSpooling(open);
    describeWatching(open);
    describeCatchingUp(open);
    describeSearching(open);
    describeWithholding(open);
    describeHiding(open);
    describePortability(open);
    describeRandomSteps(open);
  });
}

/** Tests how a store orders entries that it stores and reads as another one does. */
export function orderingContractOf(name: string, open: () => Promise<Reopenable>): void {
  describe(name, () => {
    describeChain(open);
    describeKeys(open);
    describeCatchingUp(open);
    describeReopening(open);
    describeLastingPortability(open);
  });
}

/**
 * Tests a store whose log outlives its process: `contractOf`, what must hold after reopening, and many
 * entries: only such a store has other forms for them.
 */
export function lastingContractOf(name: string, open: () => Promise<Reopenable>): void {
  contractOf(name, open);
  describe(name, () => describeManyEntries(open));
  describe(`${name}, opened again`, () => {
    describeReopening(open);
    describeLastingWithholding(open);
    describeLastingThreads(open);
    describeLastingPortability(open);
  });
}
