import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { withAnswer, withMore } from './answers.ts';
import type { PageEntry } from './entry-data.ts';
import { withoutWithheld } from './withheld-entry.ts';

function entryOf(id: string, more: Partial<PageEntry> = {}): PageEntry {
  const own = { seq: 1, kind: 'garden', room: 'first-breath', timestamp: '2026-01-01' } as const;
  return { id, ...own, text: `words of ${id}`, ...more };
}

const idsOf = (entries: readonly PageEntry[] = []): string[] => entries.map(({ id }) => id);

suite('nested answers', () => {
  test('gain new answers while they are shown, without gaps', () => {
    const deep = entryOf('deep', { answers: [] });
    const list = [entryOf('top', { replies: 1, answers: [deep] })];
    const [top] = withAnswer(list, entryOf('new', { inReplyTo: 'deep' }));
    assert.deepEqual(idsOf(top?.answers?.[0]?.answers), ['new']);
    assert.equal(top?.answers?.[0]?.replies, 1);
    const [counted] = withAnswer(
      [entryOf('top', { replies: 20, answers: [deep] })],
      entryOf('late', { inReplyTo: 'top' }),
    );
    assert.equal(counted?.replies, 21);
    assert.deepEqual(idsOf(counted?.answers), ['deep']);
    assert.equal(withAnswer(list, entryOf('other', { inReplyTo: 'elsewhere' })), list);
  });

  test('gain the answers that are loaded, each once', () => {
    const list = [entryOf('top', { replies: 3, answers: [entryOf('one')] })];
    const [top] = withMore(list, 'top', [entryOf('one'), entryOf('two'), entryOf('three')]);
    assert.deepEqual(idsOf(top?.answers), ['one', 'two', 'three']);
  });

  test('lose the words of withheld entries, also in lines that quote them', () => {
    const answer = entryOf('answer', {
      inReplyTo: 'top',
      answered: { author: 'Lumen', text: 'words of top' },
    });
    const list = withMore([entryOf('top', { answers: [entryOf('one')] }), answer], 'top', [
      entryOf('two'),
    ]);
    const withheld = ['top', 'two'].map((id) => ({
      id,
      number: 1,
      seq: 1,
      at: '2026-01-02',
      reason: 'asked',
    }));
    const text = JSON.stringify(withoutWithheld(list, withheld));
    assert.doesNotMatch(text, /words of (?:top|two)/);
    assert.match(text, /words of one/);
    assert.match(text, /words of answer/);
  });
});
