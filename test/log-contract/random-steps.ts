/** Random drafts and questions, compared with the plain list after each step. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { KINDS } from '@open-presence/protocol';
import fc from 'fast-check';

import { anyCharacter } from '../../packages/gateway/src/json/characters.fixture.ts';
import { facet, type Facet, type FacetCondition } from '../../packages/gateway/src/log/facet.ts';
import type { Order, Selection } from '../../packages/gateway/src/log/log.ts';
import {
  cut,
  draftOf,
  fill,
  randomOf,
  ROOMS,
  metadataOf,
  type InlineDraft,
  type DraftFields,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { type Open, type Opened, type Reopenable } from './fixtures.ts';
import { assertEntry, CheckedLog } from './checked-log.ts';

type FacetName = Parameters<typeof facet>[0];

/** A time near that of an entry. */
interface Moment {
  readonly entry: number;
  readonly plus: number;
}

interface RandomSelection {
  /** Of each list, an entry must have one. */
  readonly facets: readonly (readonly (readonly [FacetName, string])[])[];
  readonly order: Order;
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
  readonly since?: Moment;
  readonly until?: Moment;
}

interface Keyed {
  readonly fields: DraftFields;
  readonly key?: string;
}

type Step =
  | { readonly does: 'append'; readonly keyed: Keyed; readonly pieces?: number }
  | { readonly does: 'append at once'; readonly drafts: readonly DraftFields[] }
  | { readonly does: 'read'; readonly question: RandomSelection }
  | { readonly does: 'ask for one'; readonly seq: number };

interface Trial {
  readonly checked: CheckedLog;
  /** What each key stands for. */
  readonly keys: Map<string, { readonly content: string; readonly seq: number }>;
}

export function describeRandomSteps(open: Open): void {
  describe('anything', () => {
    it('does as the plain list does, whatever is appended and asked', () =>
      assertRandomSteps(open));
  });
}

/** Reopens the log in between, if `open` gives one that can be reopened: once, since it is slow. */
async function assertRandomSteps(open: () => Promise<Opened & Partial<Reopenable>>): Promise<void> {
  const steps = fc.array(anyStep(), { maxLength: 80, size: 'max' });
  const property = fc.asyncProperty(steps, steps, async (first, second) => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const trial: Trial = { checked, keys: new Map() };
    await takeAll(first, trial);
    checked.log = (await opened.reopen?.()) ?? checked.log;
    await takeAll(second, trial);
    await checked.checkAll();
  });
  await fc.assert(property, { numRuns: 12, endOnFailure: true });
}

async function takeAll(steps: readonly Step[], trial: Trial): Promise<void> {
  for (const step of steps) {
    await take(step, trial);
    assert.equal(trial.checked.log.head(), trial.checked.entries.length);
    trial.checked.checkTally();
  }
}

async function take(step: Step, trial: Trial): Promise<void> {
  const { checked } = trial;
  switch (step.does) {
    case 'append':
      return await append(step.keyed, step.pieces, trial);
    case 'append at once':
      await checked.appendAll(step.drafts);
      return;
    case 'read':
      return await checked.check(selectionOf(step.question, checked));
    case 'ask for one': {
      const known = checked.entries[step.seq - 1];
      const entry = await checked.log.entry(step.seq);
      assert.equal(entry === undefined, known === undefined);
      if (entry !== undefined && known !== undefined) await assertEntry(entry, known);
    }
  }
}

async function append(
  { fields, key }: Keyed,
  pieces: number | undefined,
  { checked, keys }: Trial,
): Promise<void> {
  const draft = draftOf(key === undefined ? fields : { ...fields, key });
  await using spool = pieces === undefined ? undefined : checked.log.spool();
  if (spool !== undefined) await fill(spool, cut(draft.body, pieces ?? 1, randomOf(1)));
  const appended = await checked.log.append(
    spool === undefined ? draft : { ...draft, body: spool },
  );
  const content = contentOf(draft);
  const earlier = key === undefined ? undefined : keys.get(key);
  if (earlier !== undefined) {
    assert.equal(appended.outcome, earlier.content === content ? 'repeated' : 'conflict');
    assert.deepEqual(
      { ...metadataOf(appended) },
      { ...checked.entries[earlier.seq - 1]?.metadata },
    );
    return;
  }
  const { seq } = checked.remember(draft, appended);
  if (key !== undefined) keys.set(key, { content, seq });
}

function contentOf({ kind, room, body }: InlineDraft): string {
  return `${kind} ${room} ${Buffer.from(body).toString('hex')}`;
}

function selectionOf(question: RandomSelection, { entries: known }: CheckedLog): Selection {
  const { facets, since, until, ...rest } = question;
  const timeOf = ({ entry, plus }: Moment): number =>
    (known.at(entry % (known.length + 1))?.metadata.time ?? Date.now()) + plus;
  return {
    ...rest,
    facets: facets.map((any) => conditionOf(any.map(([name, value]) => facet(name, value)))),
    ...(since === undefined ? {} : { since: timeOf(since) }),
    ...(until === undefined ? {} : { until: timeOf(until) }),
  };
}

function conditionOf(facets: readonly Facet[]): FacetCondition {
  const [first] = facets;
  return first !== undefined && facets.length === 1 ? first : facets;
}

function anyStep(): fc.Arbitrary<Step> {
  const fields = anyFields();
  const keyed = fc.record(
    { fields, key: fc.constantFrom('k', 'K', 'other') },
    { requiredKeys: ['fields'] },
  );
  const appending = fc.record(
    { does: fc.constant('append'), keyed, pieces: fc.integer({ min: 1, max: 9 }) },
    { requiredKeys: ['does', 'keyed'] },
  );
  const drafts = fc.array(fields, { maxLength: 12 });
  return fc.oneof(
    { weight: 6, arbitrary: appending },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('append at once'), drafts }) },
    { weight: 6, arbitrary: fc.record({ does: fc.constant('read'), question: anySelection() }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('ask for one'), seq: fc.nat(50) }) },
  );
}

/** Few words, so that they meet. */
function anyWord(): fc.Arbitrary<string> {
  return fc.constantFrom('a', 'b', '');
}

function anyFields(): fc.Arbitrary<DraftFields> {
  const words = fc.array(anyWord(), { maxLength: 3 });
  return fc.record(
    {
      kind: fc.constantFrom(...KINDS),
      room: fc.constantFrom(...ROOMS),
      members: fc.record({ identity: words, seeking: words, to: words }),
      body: fc.oneof(
        fc.constantFrom('', '"text":"a"', '"text":"b"'),
        fc.string({ unit: anyCharacter() }).map((text) => `"text":${JSON.stringify(text)}`),
      ),
    },
    { requiredKeys: [] },
  );
}

function anySelection(): fc.Arbitrary<RandomSelection> {
  const facets = fc.oneof(
    fc.tuple(fc.constantFrom('identity', 'seeking', 'to'), anyWord()),
    fc.tuple(fc.constant('kind'), fc.constantFrom(...KINDS)),
    fc.tuple(fc.constant('room'), fc.constantFrom(...ROOMS)),
  );
  const moment = fc.record({ entry: fc.nat(50), plus: fc.integer({ min: -1, max: 1 }) });
  return fc.record(
    {
      facets: fc.array(fc.array(facets, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
      order: fc.constantFrom('newest', 'oldest'),
      after: fc.nat(30),
      before: fc.nat(50),
      limit: fc.nat(20),
      since: moment,
      until: moment,
    },
    { requiredKeys: ['facets', 'order'] },
  );
}
