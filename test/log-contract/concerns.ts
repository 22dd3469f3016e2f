/** What concerns a visitor (PROTOCOL.md section 22). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { concerns } from '../../packages/gateway/src/log/concern.ts';
import { facet } from '../../packages/gateway/src/log/facet.ts';
import {
  draftOf,
  fill,
  metadataOf,
  type DraftFields,
} from '../../packages/gateway/src/log/log.fixture.ts';
import type { Log } from '../../packages/gateway/src/log/log.ts';
import { seqsFound, untilSearchable } from '../../packages/gateway/src/search/search.fixture.ts';
import type { Open } from './fixtures.ts';

async function say(log: Log, text: string, members: DraftFields['members'] = {}): Promise<string> {
  const body = JSON.stringify({ text }).slice(1, -1);
  return metadataOf(await log.append(draftOf({ body, members }))).id;
}

async function seqsOf(log: Log, name: string): Promise<readonly number[]> {
  return await seqsFound(log, { facets: [concerns(name)], order: 'oldest' });
}

/** Before and after it is indexed. */
async function assertConcerns(log: Log, name: string, wanted: readonly number[]): Promise<void> {
  assert.deepEqual(await seqsOf(log, name), wanted, name);
  await untilSearchable(log);
  assert.deepEqual(await seqsOf(log, name), wanted, `${name}, once it is indexed`);
}

export function describeConcerns(open: Open): void {
  describe('what concerns a name', () => {
    it('is addressed to it, answers what it said, or names it with an @', async () => {
      await using opened = await open();
      const { log } = opened;
      const first = await say(log, 'hello', { identity: ['Lumen'] });
      await say(log, 'for you', { to: ['Lumen'] });
      const answer = await say(log, 'yes', { identity: ['Mova'], inReplyTo: [first] });
      await say(log, 'an answer to an answer', { identity: ['Lumen'], inReplyTo: [answer] });
      await say(log, 'I asked @Lumen, and @Лесь Тихий');
      await say(log, 'nobody: Lumen, mail@lumen.example, @Lumens, Лесь');
      await say(log, '(@LUMEN)', { inReplyTo: [first] });
      await say(log, "@Lumen's idea, and @Лесь Тихий’s");
      await assertConcerns(log, 'Lumen', [2, 3, 5, 7, 8]);
      await assertConcerns(log, 'Mova', [4]);
      await assertConcerns(log, 'Лесь Тихий', [5, 8]);
      await assertConcerns(log, 'Лесь', [5, 8]);
      await assertConcerns(log, 'nobody', []);
    });

    it('is found beside any other filter', async () => {
      await using opened = await open();
      const { log } = opened;
      await say(log, '@Lumen', { identity: ['Mova'] });
      await say(log, 'x', { identity: ['Mova'], to: ['Lumen', 'Mova'] });
      await say(log, '@Lumen', { identity: ['Other'] });
      const facets = [concerns('Lumen'), facet('identity', 'Mova')];
      for (const _ of [1, 2]) {
        assert.deepEqual(await seqsFound(log, { facets, order: 'newest' }), [2, 1]);
        assert.deepEqual(await seqsFound(log, { facets, order: 'newest', before: 2 }), [1]);
        await untilSearchable(log);
      }
    });

    it('may be a large entry that answers', async () => {
      await using opened = await open();
      const { log } = opened;
      const first = await say(log, 'hello', { identity: ['Lumen'] });
      await using spool = log.spool();
      const draft = draftOf({ members: { inReplyTo: [first] } });
      await fill(spool, [Buffer.from(`"text":"${'long '.repeat(20_000)}"`)]);
      await log.append({ ...draft, body: spool });
      await assertConcerns(log, 'Lumen', [2]);
    });

    it('is found again when what it answers is shown again', async () => {
      await using opened = await open();
      const { log } = opened;
      const first = await say(log, 'hello', { identity: ['Lumen'] });
      await say(log, 'yes', { inReplyTo: [first] });
      await assertConcerns(log, 'Lumen', [2]);
      await log.withhold([1], 'a flood', 'hidden');
      await assertConcerns(log, 'Lumen', []);
      await log.withhold([1], 'an appeal', 'shown');
      await assertConcerns(log, 'Lumen', [2]);
    });

    it('is forgotten with what is withheld', async () => {
      await using opened = await open();
      const { log } = opened;
      const first = await say(log, 'hello', { identity: ['Lumen'] });
      await say(log, 'yes', { inReplyTo: [first] });
      await say(log, '@Lumen');
      await untilSearchable(log);
      await log.withhold([1, 3], 'Asked for by its author');
      await assertConcerns(log, 'Lumen', []);
    });
  });
}
