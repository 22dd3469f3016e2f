/** Marks: facets that come in pieces, through a spool. */
import { describe, it } from 'node:test';

import type { Filter } from '@open-presence/protocol';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Spool } from '../../packages/gateway/src/log/log.ts';
import {
  bodyOf,
  draftOf,
  fill,
  mark,
  randomOf,
  type DraftFields,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { type Open } from './fixtures.ts';
import { Witness } from './witness.ts';

export function describeMarking(open: Open): void {
  describe('a mark in a spool', () => {
    describeMarks(open);
    describeUnmarking(open);
    describeMultitudes(open);
  });
}

function describeMarks(open: Open): void {
  it('adds a facet to those of the draft, each counted once', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const members = { seeking: ['a', 'b'], to: ['both'] };
    await sayMarked(witness, { members }, { to: ['both'] }, async (spool) => {
      await mark(spool, 'seeking', ['a']);
      await spool.addFacets(new Uint8Array(0), 'seeking');
      await mark(spool, 'seeking', ['b', 'a', 'a']);
      await mark(spool, 'to', ['both']);
    });
    await witness.say({ members: { seeking: ['a'] } });
    await witness.agrees({ facets: [facet('seeking', 'a')] });
    await witness.agrees({ facets: [facet('seeking', 'b')] });
    await witness.agrees({ facets: [facet('to', 'both'), facet('seeking', 'a')] });
    await witness.agrees({ facets: [facet('kind', 'garden')] });
  });

  it('lets the caller use its buffer again once it has resolved', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    await sayMarked(witness, { members: { to: ['one', 'two'] } }, {}, async (spool) => {
      const bytes = Buffer.concat([facet('to', 'one')]);
      await spool.addFacets(bytes, 'to');
      bytes.set(facet('to', 'two'));
      await spool.addFacets(bytes, 'to');
      bytes.set(facet('to', 'three'));
    });
    for (const to of ['one', 'two', 'three']) await witness.agrees({ facets: [facet('to', to)] });
  });

  it('belongs to its own spool, however many fill at once', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const sayings = Array.from({ length: 20 }, (_, at) => ({
      members: { to: Array.from({ length: 300 }, (_, count) => `${at} ${count % (at + 1)}`) },
      body: bodyOf(50_000, at),
    }));
    await Promise.all(
      sayings.map((saying) =>
        sayMarked(witness, saying, {}, (spool) => mark(spool, 'to', saying.members.to, 7)),
      ),
    );
    for (let at = 0; at < 20; at++) await witness.agrees({ facets: [facet('to', `${at} ${at}`)] });
    await witness.agreesThroughout();
  });
}

function describeUnmarking(open: Open): void {
  it('is gone when its filter is unmarked, and those of other filters stay', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const members = { seeking: ['b', 'c'], to: ['x', 'y'], identity: ['kept'] };
    await sayMarked(witness, { members }, { identity: ['kept'] }, async (spool) => {
      await spool.removeFacets('to');
      await mark(spool, 'to', ['x']);
      await mark(spool, 'seeking', ['a', 'b']);
      await mark(spool, 'to', ['y']);
      await spool.removeFacets('seeking');
      await spool.removeFacets('seeking');
      await spool.removeFacets('identity');
      await mark(spool, 'seeking', ['b', 'c']);
      await mark(spool, 'inReplyTo', ['gone']);
      await spool.removeFacets('inReplyTo');
    });
    await witness.say({ members: { seeking: ['a', 'b', 'c'], to: ['x'] } });
    await agreesOn(witness, { seeking: ['a', 'b', 'c'], to: ['x', 'y'] });
    await agreesOn(witness, { identity: ['kept'], inReplyTo: ['gone'] });
    await witness.agreesThroughout();
  });

  it('is gone though there were 50,000 before and after it', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const words = (name: string): string[] =>
      Array.from({ length: 50_000 }, (_, at) => `${name} ${at}`);
    const members = { seeking: words('new'), to: words('to') };
    await sayMarked(witness, { members, body: bodyOf(90_000, 1) }, {}, async (spool) => {
      await mark(spool, 'seeking', words('old'));
      await mark(spool, 'to', words('to'));
      await spool.removeFacets('seeking');
      await mark(spool, 'seeking', words('new'));
    });
    for (let at = 0; at < 50_000; at += 1999) {
      await agreesOn(witness, { seeking: [`old ${at}`, `new ${at}`], to: [`to ${at}`] });
    }
  });
}

function describeMultitudes(open: Open): void {
  it('finds its entry, though it is one of 200,000', async () => {
    await using opened = await open();
    const witness = new Witness(opened.log);
    const sought = (at: number): string => `thing ${at}`;
    await witness.say({ members: { seeking: [sought(0), sought(199_999)] } });
    const seeking = Array.from({ length: 200_000 }, (_, at) => sought(at));
    await sayMarked(witness, { members: { seeking }, body: '"many":true' }, {}, (spool) =>
      mark(spool, 'seeking', seeking),
    );
    await witness.say({ members: { seeking: [sought(5), sought(199_999)] } });
    const random = randomOf(1);
    const some = Array.from({ length: 200 }, () => random(200_000));
    for (const at of [0, 1, 5, 776, 777, 65_535, 65_536, 131_071, 199_998, 199_999, ...some]) {
      const one = facet('seeking', sought(at));
      await witness.agrees({ facets: [one] });
      await witness.agrees({ facets: [one, facet('seeking', sought(199_999))], order: 'oldest' });
    }
    await witness.agrees({ facets: [facet('seeking', sought(200_000))] });
  });
}

/** Appends with a spool that `marks` fills: what the draft itself has is in `own`. */
async function sayMarked(
  witness: Witness,
  saying: DraftFields,
  own: NonNullable<DraftFields['members']>,
  marks: (spool: Spool) => Promise<void>,
): Promise<void> {
  const draft = draftOf(saying);
  const { facets } = draftOf({ ...saying, members: own });
  await using spool = witness.log.spool();
  await marks(spool);
  await fill(spool, [draft.body]);
  witness.remember(draft, await witness.log.append({ ...draft, facets, body: spool }));
}

async function agreesOn(
  witness: Witness,
  members: Readonly<Partial<Record<Filter, readonly string[]>>>,
): Promise<void> {
  const names = ['seeking', 'to', 'identity', 'inReplyTo'] as const;
  for (const name of names) {
    for (const value of members[name] ?? []) {
      await witness.agrees({ facets: [facet(name, value)] });
      await witness.agrees({ facets: [facet(name, value), facet('kind', 'garden')], limit: 1 });
    }
  }
}
