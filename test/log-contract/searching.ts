/** Finding entries by their words. Texts in many scripts, a small judged set, and large entries. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Log, Order, Seq } from '../../packages/gateway/src/log/log.ts';
import {
  bestSeqs,
  seqsFound,
  untilSearchable,
  textQuery,
} from '../../packages/gateway/src/search/search.fixture.ts';
import {
  draftOf,
  type InlineDraft,
  type DraftFields,
  metadataOf,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { type Open } from './fixtures.ts';

/** Texts, and which of them (from 1) each search finds, the best first. */
const TEXTS: readonly string[] = [
  'Пам’ять саду: м’ята росте біля води.',
  'The garden keeps what was said there. The garden remembers, and a garden answers.',
  'Somebody walked through the garden at night, and nobody knew where they went afterwards.',
  'Їжак їсть яблука, а йод стоїть на полиці.',
  '漢字の庭に雨が降る',
  'الذاكرة المشتركة تعيش في الحديقة',
  'Growing slowly 🌱 and 👩‍🚀 far away',
  'Ґанок і кава. За́мок на горі.',
  'A well-being garden: rest, water, shade.',
  'ภาษาไทยสวยงาม',
];
const JUDGED: readonly (readonly [readonly string[], readonly Seq[]])[] = [
  [['garden'], [2, 9, 3]],
  [["м'ята"], [1]],
  [['мята'], [1]],
  [['саду', 'води'], [1]],
  [['їжак'], [4]],
  [['іжак'], []],
  [['иод'], []],
  [['йод'], [4]],
  [['замок'], [8]],
  [['грати'], []],
  [['漢字'], [5]],
  [['字漢'], []],
  [['雨'], [5]],
  [['الحديقه'], [6]],
  [['🌱'], [7]],
  [['👩‍🚀'], [7]],
  [['ไทย'], [10]],
  [['gard*'], [2, 9, 3]],
  [['garden keeps'], [2]],
  [['keeps garden'], []],
  [
    ['garden', '-keeps'],
    [9, 3],
  ],
  [['garden', '-the garden'], [9]],
  [['WELL-being'], [9]],
  [['Lumen'], []],
];

export function describeSearching(open: Open): void {
  describe('a search', () => {
    it('finds what was said in any script, the best first', async () => {
      await using opened = await open();
      const { log } = opened;
      for (const text of TEXTS) await log.append(textDraft({ text }));
      await untilSearchable(log);
      for (const [terms, seqs] of JUDGED) {
        assert.deepEqual(await bestSeqs(log, textQuery(...terms)), seqs, terms.join(' '));
        const inOrder = seqs.toSorted((a, b) => a - b);
        assert.deepEqual(
          await seqsFound(log, { textQuery: textQuery(...terms) }),
          inOrder,
          terms.join(' '),
        );
      }
    });

    it('finds every string value at any depth, and no name and no word of the gateway', async () => {
      await using opened = await open();
      const { log } = opened;
      const body =
        '"deep":[{"name":"inner \\u0441ад","more":[[["last"]]]}],"twice":"one","twice":"two"';
      await log.append(draftOf({ body }));
      await untilSearchable(log);
      for (const word of ['inner', 'сад', 'last', 'one', 'two']) {
        assert.deepEqual(await seqsFound(log, { textQuery: textQuery(word) }), [1], word);
      }
      for (const word of ['deep', 'twice', 'garden', 'consciousness', 'inner last']) {
        assert.deepEqual(await seqsFound(log, { textQuery: textQuery(word) }), [], word);
      }
    });

    for (const order of ['newest', 'oldest'] satisfies Order[]) {
      it(`is combined with facets, bounds and limits, ${order} first`, async () => {
        await using opened = await open();
        const { log } = opened;
        const said: Seq[] = [];
        for (let seq = 1; seq <= 300; seq += 1) {
          const identity = seq % 3 === 0 ? 'Lumen' : 'Other';
          const text = seq % 2 === 0 ? 'even water' : 'odd water';
          await log.append(textDraft({ text, identity }));
          if (seq % 6 === 0 && seq > 30 && seq < 280) said.push(seq);
        }
        await untilSearchable(log);
        if (order === 'newest') said.reverse();
        const what = {
          facets: [facet('identity', 'Lumen')],
          textQuery: textQuery('even'),
          order,
          after: 30,
          before: 280,
        };
        assert.deepEqual(await seqsFound(log, what), said);
        const reading = log.readEntries({ ...what, limit: 7 });
        const given: Seq[] = [];
        for (let step = await reading.next(); ; step = await reading.next()) {
          if (step.done === true) {
            assert.deepEqual(step.value, { last: said[6], more: true });
            break;
          }
          given.push(step.value.metadata.seq);
        }
        assert.deepEqual(given, said.slice(0, 7));
        const pieces = log.readText({ ...what, limit: 2 }, '\n');
        const text = Buffer.concat(await Array.fromAsync(pieces)).toString();
        const seqs = text.split('\n').map((line) => Number(/"seq":(\d+)/.exec(line)?.[1]));
        assert.deepEqual(seqs, said.slice(0, 2));
      });
    }

    it('gives the newest first of what says it equally well, and passes over some', async () => {
      await using opened = await open();
      const { log } = opened;
      for (let seq = 1; seq <= 50; seq += 1)
        await log.append(textDraft({ text: 'the same words' }));
      await log.append(textDraft({ text: 'others' }));
      await untilSearchable(log);
      const newest = Array.from({ length: 50 }, (_, at) => 50 - at);
      assert.deepEqual(await bestSeqs(log, textQuery('same')), newest);
      assert.deepEqual(await bestSeqs(log, textQuery('same'), 5, 20), newest.slice(20, 25));
      assert.deepEqual(await bestSeqs(log, textQuery('same'), 5, 48), newest.slice(48));
      assert.deepEqual(await bestSeqs(log, textQuery('same'), 5, 500), []);
    });

    it('looks into the first MiB of an entry', async () => {
      await using opened = await open();
      const { log } = opened;
      const fits = await spooled(log, ['mint', 'noise '.repeat(170_000), 'moss']);
      const exceeds = await spooled(log, ['mint', 'noise '.repeat(180_000), 'moss']);
      await untilSearchable(log);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('mint') }), [fits, exceeds]);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('moss') }), [fits]);
    });

    it('looks into large entries from end to end', async () => {
      await using opened = await open();
      const { log } = opened;
      await log.append(textDraft({ text: 'mint by the water' }));
      const large = await spooled(log, ['mint', 'noise '.repeat(100_000), 'finally']);
      await log.append(textDraft({ text: 'noise and mint' }));
      await untilSearchable(log);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('finally') }), [large]);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('mint', 'finally') }), [large]);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('mint') }), [1, large, 3]);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('mint', '-finally') }), [1, 3]);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('mint'), order: 'newest' }), [
        3,
        large,
        1,
      ]);
      assert.deepEqual(await seqsFound(log, { textQuery: textQuery('mint', 'noise'), limit: 1 }), [
        large,
      ]);
      assert.deepEqual(
        new Set(await bestSeqs(log, textQuery('mint', 'noise'))),
        new Set([large, 3]),
      );
      assert.deepEqual(await bestSeqs(log, textQuery('mint', '-noise')), [1]);
    });
  });
}

function textDraft(said: { readonly text: string; readonly identity?: string }): InlineDraft {
  const { text, identity } = said;
  const body = JSON.stringify({ text }).slice(1, -1);
  const members: DraftFields['members'] = identity === undefined ? {} : { identity: [identity] };
  return draftOf({ body, members });
}

async function spooled(log: Log, texts: readonly string[]): Promise<Seq> {
  const body = log.spool();
  for (const [at, text] of texts.entries()) {
    await body.write(Buffer.from(`${at === 0 ? '' : ','}"text${at}":${JSON.stringify(text)}`));
  }
  return metadataOf(await log.append({ ...draftOf(), body })).seq;
}
