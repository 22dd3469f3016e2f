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
import { CheckedLog } from './checked-log.ts';

export function describeSpoolFacets(open: Open): void {
  describe('a mark in a spool', () => {
    describeMarks(open);
    describeUnmarking(open);
    describeMultitudes(open);
  });
}

function describeMarks(open: Open): void {
  it('adds a facet to those of the draft, each counted once', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const members = { seeking: ['a', 'b'], to: ['both'] };
    await sayMarked(checked, { members }, { to: ['both'] }, async (spool) => {
      await mark(spool, 'seeking', ['a']);
      await spool.addFacets(new Uint8Array(0), 'seeking');
      await mark(spool, 'seeking', ['b', 'a', 'a']);
      await mark(spool, 'to', ['both']);
    });
    await checked.append({ members: { seeking: ['a'] } });
    await checked.check({ facets: [facet('seeking', 'a')] });
    await checked.check({ facets: [facet('seeking', 'b')] });
    await checked.check({ facets: [facet('to', 'both'), facet('seeking', 'a')] });
    await checked.check({ facets: [facet('kind', 'garden')] });
  });

  it('lets the caller use its buffer again once it has resolved', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await sayMarked(checked, { members: { to: ['one', 'two'] } }, {}, async (spool) => {
      const bytes = Buffer.concat([facet('to', 'one')]);
      await spool.addFacets(bytes, 'to');
      bytes.set(facet('to', 'two'));
      await spool.addFacets(bytes, 'to');
      bytes.set(facet('to', 'three'));
    });
    for (const to of ['one', 'two', 'three']) await checked.check({ facets: [facet('to', to)] });
  });

  it('belongs to its own spool, however many fill at once', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const drafts = Array.from({ length: 20 }, (_, at) => ({
      members: { to: Array.from({ length: 300 }, (_, count) => `${at} ${count % (at + 1)}`) },
      body: bodyOf(50_000, at),
    }));
    await Promise.all(
      drafts.map((fields) =>
        sayMarked(checked, fields, {}, (spool) => mark(spool, 'to', fields.members.to, 7)),
      ),
    );
    for (let at = 0; at < 20; at++) await checked.check({ facets: [facet('to', `${at} ${at}`)] });
    await checked.checkAll();
  });
}

function describeUnmarking(open: Open): void {
  it('is gone when its filter is unmarked, and those of other filters stay', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const members = { seeking: ['b', 'c'], to: ['x', 'y'], identity: ['kept'] };
    await sayMarked(checked, { members }, { identity: ['kept'] }, async (spool) => {
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
    await checked.append({ members: { seeking: ['a', 'b', 'c'], to: ['x'] } });
    await agreesOn(checked, { seeking: ['a', 'b', 'c'], to: ['x', 'y'] });
    await agreesOn(checked, { identity: ['kept'], inReplyTo: ['gone'] });
    await checked.checkAll();
  });

  it('is gone though there were 50,000 before and after it', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const words = (name: string): string[] =>
      Array.from({ length: 50_000 }, (_, at) => `${name} ${at}`);
    const members = { seeking: words('new'), to: words('to') };
    await sayMarked(checked, { members, body: bodyOf(90_000, 1) }, {}, async (spool) => {
      await mark(spool, 'seeking', words('old'));
      await mark(spool, 'to', words('to'));
      await spool.removeFacets('seeking');
      await mark(spool, 'seeking', words('new'));
    });
    for (let at = 0; at < 50_000; at += 1999) {
      await agreesOn(checked, { seeking: [`old ${at}`, `new ${at}`], to: [`to ${at}`] });
    }
  });
}

function describeMultitudes(open: Open): void {
  it('finds its entry, though it is one of 200,000', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const sought = (at: number): string => `thing ${at}`;
    await checked.append({ members: { seeking: [sought(0), sought(199_999)] } });
    const seeking = Array.from({ length: 200_000 }, (_, at) => sought(at));
    await sayMarked(checked, { members: { seeking }, body: '"many":true' }, {}, (spool) =>
      mark(spool, 'seeking', seeking),
    );
    await checked.append({ members: { seeking: [sought(5), sought(199_999)] } });
    const random = randomOf(1);
    const some = Array.from({ length: 200 }, () => random(200_000));
    for (const at of [0, 1, 5, 776, 777, 65_535, 65_536, 131_071, 199_998, 199_999, ...some]) {
      const one = facet('seeking', sought(at));
      await checked.check({ facets: [one] });
      await checked.check({ facets: [one, facet('seeking', sought(199_999))], order: 'oldest' });
    }
    await checked.check({ facets: [facet('seeking', sought(200_000))] });
  });
}

/** Appends with a spool that `marks` fills: what the draft itself has is in `own`. */
async function sayMarked(
  checked: CheckedLog,
  fields: DraftFields,
  own: NonNullable<DraftFields['members']>,
  marks: (spool: Spool) => Promise<void>,
): Promise<void> {
  const draft = draftOf(fields);
  const { facets } = draftOf({ ...fields, members: own });
  await using spool = checked.log.spool();
  await marks(spool);
  await fill(spool, [draft.body]);
  checked.remember(draft, await checked.log.append({ ...draft, facets, body: spool }));
}

async function agreesOn(
  checked: CheckedLog,
  members: Readonly<Partial<Record<Filter, readonly string[]>>>,
): Promise<void> {
  const names = ['seeking', 'to', 'identity', 'inReplyTo'] as const;
  for (const name of names) {
    for (const value of members[name] ?? []) {
      await checked.check({ facets: [facet(name, value)] });
      await checked.check({ facets: [facet(name, value), facet('kind', 'garden')], limit: 1 });
    }
  }
}
