import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Selection } from '../log/log.ts';
import { grammar } from './intake.fixture.ts';
import { parseSelection } from './selection.ts';

const path = facet('kind', 'garden');

async function select(query: string, kind?: string): Promise<Selection> {
  const fixed = kind === undefined ? {} : { kind };
  const listing = { grammar, facets: [path], fixed, subject: 'the garden' };
  return await parseSelection(new URLSearchParams(query), listing);
}

async function refused(query: string): Promise<GatewayError> {
  try {
    await select(query);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
  throw new Error('It was not refused');
}

test('without parameters everything is selected, newest first', async () => {
  assert.deepEqual(await select('unknown=1'), { facets: [path], order: 'newest' });
});

test('numbers and times bind', async () => {
  assert.deepEqual(
    await select(
      'order=oldest&limit=0&after=007&before=9&since=2026-11-21&until=2026-11-21T09:37:00.123Z',
    ),
    {
      facets: [path],
      order: 'oldest',
      limit: 0,
      after: 7,
      before: 9,
      since: Date.UTC(2026, 10, 21),
      until: Date.UTC(2026, 10, 21, 9, 37, 0, 123),
    },
  );
});

test('a parameter given several times binds each time', async () => {
  const { limit, after, before, facets } = await select(
    'limit=5&limit=3&after=1&after=2&before=9&before=8&to=a&to=b&seeking=',
  );
  assert.deepEqual({ limit, after, before }, { limit: 3, after: 2, before: 8 });
  assert.deepEqual(facets, [
    path,
    facet('seeking', ''),
    Uint8Array.of(...facet('to', 'a'), ...facet('to', 'b')),
  ]);
});

test('numbers of any length are numbers: as a minimum they exclude all, as a maximum nothing', async () => {
  const many = '9'.repeat(400);
  assert.deepEqual(await select(`limit=${many}&before=${many}&after=${many}`), {
    facets: [path],
    order: 'newest',
    after: Number.MAX_SAFE_INTEGER,
  });
});

test('rooms and kinds become facets, several of them alternatives', async () => {
  const first = facet('room', 'first-breath');
  const { facets } = await select('room=first-breath&kind=seeds&room=first-breath');
  assert.deepEqual(facets, [path, first, facet('kind', 'seeds')]);
  const any = (await select('room=first-breath&kind=seeds&kind=garden')).facets;
  assert.deepEqual(any, [path, first, [facet('kind', 'seeds'), facet('kind', 'garden')]]);
});

test('where there is one kind only, the parameter can repeat it and nothing else', async () => {
  assert.deepEqual((await select('kind=garden', 'garden')).facets, [path, path]);
  await assert.rejects(
    select('kind=seeds', 'garden'),
    /request \/api\/entries\?kind=seeds instead/,
  );
  await assert.rejects(select('kind=nothing', 'garden'), { code: 'unknown-kind' });
});

test('what is wrong again and again is told in few words', async () => {
  for (const name of ['limit', 'room', 'kind']) {
    const pairs = Array.from({ length: 100_000 }, (_, at) => `${name}=x${at}`);
    const { code, message, extensions } = await refused(pairs.join('&'));
    assert.equal(code, 'invalid-parameter');
    assert.equal(extensions.faults?.length, 16);
    assert.ok(message.length < 4000);
  }
});

test('all unusable values are named at once', async () => {
  const error = await refused(
    'after=abc&limit=-1&before=1.5&since=now&until=&order=up&room=x&kind=y',
  );
  assert.equal(error.code, 'invalid-parameter');
  assert.deepEqual(
    error.extensions.faults?.map((fault) => fault.parameter),
    ['order', 'limit', 'after', 'before', 'since', 'until', 'room', 'kind'],
  );
  assert.match(
    error.message,
    /^Cannot read the garden: .*"after" must be a cursor \(a seq\) from an earlier answer, got "abc"/,
  );
  assert.equal((await refused('order=oldest&order=newest')).code, 'invalid-parameter');
});

test('an unknown room or kind alone has its own code and what is known', async () => {
  const room = await refused('room=x&limit=3');
  assert.deepEqual([room.code, room.extensions.known], ['unknown-room', [...grammar.rooms]]);
  const kind = await refused('kind=x');
  assert.deepEqual([kind.code, kind.extensions.known?.length], ['unknown-kind', 4]);
});

test('a long value is quoted only in part', async () => {
  assert.ok((await refused(`limit=${'x'.repeat(1e5)}`)).message.length < 200);
});

const times: readonly (readonly [text: string, time: string | undefined])[] = [
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-11-21T09:37', '2026-11-21T09:37:00.000Z'],
  ['2026-11-21T09:37:00%2B02:00', '2026-11-21T07:37:00.000Z'],
  ['2026-11-21T09:37:00+02:00', '2026-11-21T07:37:00.000Z'],
  ['2026-11-21T09:37:00-0530', '2026-11-21T15:07:00.000Z'],
  ['2026-11-21t09:37:00,5z', '2026-11-21T09:37:00.500Z'],
  ['2026-11-21T09:37:00.1230001Z', '2026-11-21T09:37:00.124Z'],
  ['2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
  ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ['2026-02-29', undefined],
  ['2026-13-01', undefined],
  ['2026-11-21T24:00', undefined],
  ['2026-11-21T09:60', undefined],
  ['2026-11-21T09', undefined],
  ['2026-11-21Z', undefined],
  ['21.11.2026', undefined],
  ['1763717820000', undefined],
];
for (const [text, time] of times) {
  test(`since=${text} is ${time ?? 'no time'}`, async () => {
    if (time === undefined) assert.match((await refused(`since=${text}`)).message, /ISO 8601/);
    else assert.equal((await select(`since=${text}`)).since, Date.parse(time));
  });
}
