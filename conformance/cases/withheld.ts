/**
 * What was taken away. The suite cannot withhold anything: it looks at what `/api/withheld` lists, so it
 * sees all of this in a gateway whose operator has withheld an entry before.
 */
import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import type { Gateway } from '../gateway.ts';
import { asArray, asInteger, asObject, asString, parseJson, type JsonObject } from '../value.ts';
import { assertLinked, readLog } from './log.ts';

const PATH = '/api/withheld';
/** Cases that are looked at in detail. */
const LOOKED_AT = 5;

async function cases(gateway: Gateway, query = ''): Promise<JsonObject[]> {
  const { json } = (await gateway.get(PATH + query)).expect(200);
  assert.match(asString(json['log']), /./);
  asInteger(json['count']);
  return asArray(json['withheld']).map(asObject);
}

const numbersOf = (found: readonly JsonObject[]): number[] =>
  found.map(({ number }) => asInteger(number));

export const withheld: readonly Case[] = [
  check('4.7', 'withheld-list', async (gateway) => {
    const answer = (await gateway.get(PATH)).expect(200);
    const count = asInteger(answer.json['count']);
    const all = Array.from({ length: count }, (_, at) => count - at);
    assert.deepEqual(numbersOf(await cases(gateway)), all);
    assert.deepEqual(numbersOf(await cases(gateway, '?order=oldest')), all.toReversed());
    assert.deepEqual(numbersOf(await cases(gateway, '?limit=1')), all.slice(0, 1));
    assert.deepEqual(await cases(gateway, `?after=${count}`), []);
    const lines = await gateway.get(PATH, { accept: 'application/x-ndjson' });
    assert.equal(lines.type, 'application/x-ndjson');
    const numbers = lines.text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [parseJson(line)]));
    assert.deepEqual(numbersOf(numbers.map(asObject)), all);
    const again = await gateway.get(PATH, { 'if-none-match': answer.header('etag') ?? '' });
    assert.equal(again.status, 304);
    (await gateway.get(`${PATH}?after=${count + 1}`)).problem(400, 'invalid-parameter');
    (await gateway.request('DELETE', PATH)).problem(405, 'method-not-allowed');
  }),
  check('4.7', 'withheld-entries', async (gateway) => {
    const known = new Set<unknown>();
    const newest = await cases(gateway, `?limit=${LOOKED_AT}`);
    for (const { id, seq, kind, room, timestamp, at, reason, state } of newest) {
      // The newest case of an entry counts.
      const isEarlier = known.has(id);
      known.add(id);
      assert.ok(['withheld', 'hidden', 'shown'].includes(asString(state)));
      if (isEarlier || state === 'shown') continue;
      const entry = { id, seq, kind, room, timestamp, withheld: { at, reason } };
      const answer = (await gateway.get(`/api/entries/${asString(id)}`)).expect(200);
      assert.deepEqual(answer.json, entry);
      const reading = await readLog(gateway, `?after=${asInteger(seq) - 1}&limit=1`);
      assert.match(reading.lines[0]?.digest ?? '', /^[0-9a-f]{64}$/);
      assertLinked(reading);
    }
  }),
  check('4.7', 'withheld-left-out', async (gateway) => {
    const [newest] = await cases(gateway, '?limit=1');
    if (newest === undefined || newest['state'] === 'shown') return;
    const [id, kind, seq] = [asString(newest['id']), asString(newest['kind']), newest['seq']];
    const around = `after=${asInteger(seq) - 1}&before=${asInteger(seq) + 1}`;
    for (const path of ['/api/entries', `/api/${kind}`]) {
      const { json: left } = await gateway.get(`${path}?${around}`);
      assert.deepEqual(left['entries'], []);
      const { json } = await gateway.get(`${path}?${around}&withheld=include`);
      assert.equal(asObject(asArray(json['entries'])[0])['id'], id);
      (await gateway.get(`${path}?withheld=all`)).problem(400, 'invalid-parameter');
    }
    const feed = await gateway.get(`/api/${kind}.atom?${around}`);
    assert.ok(!feed.text.includes(id), feed.text);
    const included = await gateway.get(`/api/${kind}.atom?${around}&withheld=include`);
    assert.ok(included.text.includes('<at:deleted-entry'), included.text);
  }),
];
