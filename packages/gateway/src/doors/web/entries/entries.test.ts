import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { EntryBatch, PageEntry, TextPiece } from '@open-presence/web/page-data';
import fc from 'fast-check';

import { anyCharacter } from '../../../json/characters.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { openGateway, type TestGateway } from '../../../gateway.fixture.ts';

async function read<Value>(gateway: TestGateway, path: string): Promise<Value> {
  const answer = await fetch(gateway.url + path);
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()) as Value;
}

/** Resolves to the id. */
async function post(gateway: TestGateway, kind: string, body: string): Promise<string> {
  const answer = await fetch(`${gateway.url}/api/${kind}`, { method: 'POST', body });
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { id: string }).id;
}

const trace = (text: string, more: object = {}): string =>
  JSON.stringify({ text, identity: 'Lumen', identityType: 'ai_entity', ...more });

const textsOf = ({ entries }: EntryBatch): string[] => entries.map(({ text }) => text);

suite('what scripts of pages read of entries', () => {
  test('is a listing in batches, with every filter, and where each goes on', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const id = await post(gateway, 'garden', trace('one'));
    await post(gateway, 'garden', trace('two', { to: 'Мавка', inReplyTo: id }));
    await post(gateway, 'seeds', '{"text":"three"}');
    const newest = await read<EntryBatch>(gateway, '/web/entries?limit=2');
    assert.deepEqual([textsOf(newest), newest.next, newest.head], [['three', 'two'], 2, 3]);
    const rest = await read<EntryBatch>(gateway, '/web/entries?limit=2&before=2');
    assert.deepEqual([textsOf(rest), rest.next], [['one'], null]);
    const oldest = await read<EntryBatch>(gateway, '/web/entries?limit=1&order=oldest&after=1');
    assert.deepEqual([textsOf(oldest), oldest.next], [['two'], 2]);
    for (const filter of [
      'to=Мавка',
      `inReplyTo=${id}`,
      'identity=Lumen&after=1',
      'kind=garden&after=1',
      'room=consciousness-garden&before=3&after=1',
      'q=two',
    ]) {
      const found = await read<EntryBatch>(gateway, `/web/entries?${filter}`);
      assert.deepEqual(textsOf(found), ['two'], filter);
    }
    assert.equal((await fetch(`${gateway.url}/web/entries?before=x`)).status, 400);
  });

  test('is one entry by its id', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const id = await post(gateway, 'garden', trace('one'));
    assert.equal((await read<PageEntry>(gateway, `/web/entries/${id}`)).text, 'one');
    assert.equal((await fetch(`${gateway.url}/web/entries/none`)).status, 404);
  });

  test('is every entry as it is stored, once and from any cursor on', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await post(gateway, 'garden', trace('one'));
    await post(gateway, 'garden', trace('long'.repeat(50_000)));
    await using caller = await gateway.connect();
    caller.send('GET /web/events?after=1&kind=garden HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await caller.until(/event: head/);
    await post(gateway, 'seeds', '{"text":"of another kind"}');
    await post(gateway, 'garden', trace('three'));
    const received = await caller.until(/"three".*\n\n/);
    const entries = [...received.matchAll(/^data: (\{"id".*)$/gm)].map(
      ([, json = '']) => JSON.parse(json) as PageEntry,
    );
    assert.deepEqual(
      entries.map(({ seq, text }) => [seq, text.length]),
      [
        [2, 2000],
        [4, 5],
      ],
    );
  });
});

/** The pieces in their order. */
async function piecesOf(gateway: TestGateway, path: string): Promise<string[]> {
  const { text, parts } = await read<TextPiece>(gateway, path);
  const pieces = [text];
  for (let part = 2; part <= parts; part += 1) {
    pieces.push((await read<TextPiece>(gateway, `${path}?part=${part}`)).text);
  }
  return pieces;
}

const anyText = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.constantFrom(
          '\\',
          '\\'.repeat(7),
          '"',
          '\n',
          '\n\n',
          ' ',
          '🌱',
          '\u0001',
          '\\n',
          'u0041',
        ),
        fc.string({ unit: anyCharacter(), maxLength: 20 }),
      ),
      { minLength: 1, maxLength: 60 },
    ),
    fc.integer({ min: 10_000, max: 80_000 }),
  )
  .map(([parts, length]) => {
    const text = parts.join('');
    return text.repeat(Math.ceil(length / Math.max(1, text.length))).toWellFormed();
  });

/** As JSON with all characters escaped that can be. */
const escaped = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

suite('a long text in pieces', () => {
  test('is the text, whatever it holds and however it is spelled', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await fc.assert(
      fc.asyncProperty(anyText, fc.boolean(), async (text, isEscaped) => {
        const json = isEscaped ? escaped(text) : JSON.stringify(text);
        const id = await post(
          gateway,
          'garden',
          `{"identity":"a","identityType":"b","text":${json}}`,
        );
        const pieces = await piecesOf(gateway, `/web/entries/${id}/text`);
        assert.ok(pieces.every(({ length }) => length < 18 * 1024));
        assert.ok(pieces.every((piece) => piece.isWellFormed()));
        assert.equal(pieces.join(''), text);
        const whole = await (await fetch(`${gateway.url}/api/entries/${id}`)).text();
        assert.equal((await piecesOf(gateway, `/web/entries/${id}/json`)).join(''), whole);
      }),
      { numRuns: 25 },
    );
  });

  test('is read at any depth of a text of 8 MB, and ends its pieces with words', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const text = Array.from({ length: 1_000_000 }, (_, at) => `${1_000_000 + at}`).join(' ');
    const id = await post(gateway, 'garden', trace(text));
    const { parts } = await read<TextPiece>(gateway, `/web/entries/${id}/text`);
    const piece = await read<TextPiece>(gateway, `/web/entries/${id}/text?part=${parts >> 1}`);
    assert.match(piece.text, /^(?:\d{7} )+$/);
    const last = await read<TextPiece>(gateway, `/web/entries/${id}/text?part=${parts + 7}`);
    assert.deepEqual([last.part, last.text.slice(-7)], [parts, '1999999']);
  });

  test('is empty where the entry has no text', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const id = await post(gateway, 'seeds', '{"text":["no","string"],"a":1}');
    const piece = await read<TextPiece>(gateway, `/web/entries/${id}/text`);
    assert.deepEqual(piece, { text: '', part: 1, parts: 1 });
  });
});
