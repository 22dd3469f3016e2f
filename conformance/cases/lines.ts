import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { check, type Case } from '../case.ts';
import { uniqueName, traceBody, type Gateway, type Headers } from '../gateway.ts';
import { breakOff, head } from '../raw.ts';
import { until } from '../until.ts';
import { asObject, parseJson, type JsonObject } from '../value.ts';

const NDJSON = { 'content-type': 'application/x-ndjson' };

/** The results of a request that has these lines. */
async function sendLines(
  gateway: Gateway,
  lines: readonly string[],
  headers: Headers = {},
): Promise<JsonObject[]> {
  const answer = await gateway.post('garden', lines.join('\n'), { ...NDJSON, ...headers });
  assert.equal(answer.expect(200).type, 'application/x-ndjson');
  const results = answer.text.split('\n').filter((line) => line !== '');
  return results.map((line) => asObject(parseJson(line)));
}

function numbered(identity: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => traceBody(identity, { n }));
}

/** Sends the beginning of a request with these lines, and breaks off the connection. */
async function sendAndBreakOff(
  gateway: Gateway,
  lines: readonly string[],
  ...headers: readonly string[]
): Promise<void> {
  const start = head(
    'POST /api/garden HTTP/1.1',
    `Host: ${gateway.base.host}`,
    'Content-Type: application/x-ndjson',
    'Content-Length: 100000000',
    ...headers,
  );
  await breakOff(gateway.base, [start, lines.join('\n')]);
}

async function countOf(gateway: Gateway, identity: string): Promise<number> {
  return (await gateway.by(identity)).length;
}

export const lines: readonly Case[] = [
  check('7.8', 'lines', async (gateway) => {
    const identity = uniqueName();
    const [first = '', second = ''] = numbered(identity, 2);
    const results = await sendLines(gateway, [first, '', `  ${second}\r`, ' ', '']);
    assert.deepEqual(
      results.map(({ line, status }) => [line, status]),
      [
        [1, 201],
        [3, 201],
      ],
    );
    const entries = (await gateway.by(identity)).toReversed();
    for (const name of ['id', 'seq', 'kind', 'room', 'timestamp']) {
      assert.deepEqual(
        results.map((result) => result[name]),
        entries.map(({ fields }) => fields[name]),
      );
    }
    for (const type of ['application/jsonl', 'Application/NDJSON; charset=utf-8']) {
      const headers = { 'content-type': type };
      const line = traceBody(identity);
      assert.equal((await sendLines(gateway, [line, line], headers)).length, 2);
    }
    assert.deepEqual(await sendLines(gateway, ['']), []);
  }),
  check('7.8', 'line-order', async (gateway) => {
    const identity = uniqueName();
    const padding = 'x'.repeat(100_000);
    const seeking = Array.from({ length: 3000 }, (_, index) => `${index}`);
    const more = [{}, { padding }, {}, { inReplyTo: uniqueName() }, {}, { seeking }, {}];
    const sent = Array.from({ length: 6 }, () => more)
      .flat()
      .map((members, n) => traceBody(identity, { ...members, n }));
    await sendLines(gateway, sent);
    const entries = (await gateway.by(identity)).toReversed();
    assert.deepEqual(
      entries.map(({ fields }) => fields['n']),
      Array.from(sent.keys()),
      'Lines are stored in their order, whatever they say.',
    );
  }),
  check('7.8', 'line-problems', async (gateway) => {
    const identity = uniqueName();
    const good = traceBody(identity);
    const bad = ['{"text":', '{"text":1}', traceBody(identity, { room: uniqueName() }), '7'];
    const results = await sendLines(
      gateway,
      bad.flatMap((line) => [line, good]),
    );
    assert.deepEqual(
      results.map(({ status, code }) => code ?? status),
      ['malformed-json', 201, 'invalid-entry', 201, 'unknown-room', 201, 'invalid-entry', 201],
    );
    assert.equal(await countOf(gateway, identity), bad.length);
  }),
  check('7.8', 'many-lines', async (gateway) => {
    const identity = uniqueName();
    const sent = numbered(identity, 10_000);
    const text = 'довго '.repeat(2 ** 18);
    sent[5000] = traceBody(identity, { n: 5000, text });
    const results = await sendLines(gateway, sent);
    assert.deepEqual(
      results.map(({ line, status }) => [line, status]),
      sent.map((_, n) => [n + 1, 201]),
    );
    const entries = (await gateway.by(identity)).toReversed();
    assert.deepEqual(
      entries.map(({ fields }) => fields['n']),
      sent.map((_, n) => n),
    );
    assert.equal(entries[5000]?.fields['text'], text);
  }),
  check('7.8', 'line-keys', async (gateway) => {
    const identity = uniqueName();
    const headers = { 'idempotency-key': uniqueName('key') };
    const sent = numbered(identity, 3);
    const first = await sendLines(gateway, sent, headers);
    const again = await sendLines(gateway, [sent[0] ?? '', '', sent[2] ?? ''], headers);
    assert.deepEqual(
      again,
      [first[0], first[2]].map((line) => ({ ...line, repeated: true })),
    );
    const key = { 'idempotency-key': `${headers['idempotency-key']} 2` };
    const { entry } = await gateway.contribute('garden', sent[1] ?? '', key);
    assert.equal(entry.id, first[1]?.['id']);
    assert.equal(await countOf(gateway, identity), 3);
  }),
  check('7.8', 'lines-broken-off', async (gateway) => {
    const identity = uniqueName();
    const sent = [...numbered(identity, 3), traceBody(identity).slice(0, -1)].join('\n');
    const start = head(
      'POST /api/garden HTTP/1.1',
      `Host: ${gateway.base.host}`,
      'Content-Type: application/x-ndjson',
      'Transfer-Encoding: chunked',
    );
    const chunk = `${Buffer.byteLength(sent).toString(16)}\r\n${sent}\r\n`;
    // A proxy drops what it has not passed on when the caller is gone.
    await breakOff(gateway.base, [start + chunk], () =>
      until(
        () => countOf(gateway, identity),
        (count) => count >= 3,
      ),
    );
    await pause(100);
    assert.equal(await countOf(gateway, identity), 3);
  }),
  check('7.8', 'lost-connections', async (gateway) => {
    const identity = uniqueName();
    const key = uniqueName('key');
    const sent = numbered(identity, 10_000);
    for (const part of [2_000, 7_000]) {
      await sendAndBreakOff(gateway, sent.slice(0, part), `Idempotency-Key: ${key}`);
      const whole = await sendLines(gateway, sent.slice(0, part), { 'idempotency-key': key });
      assert.ok(whole.every(({ status }) => status === 201));
    }
    const results = await sendLines(gateway, sent, { 'idempotency-key': key });
    assert.equal(new Set(results.map(({ id }) => id)).size, sent.length);
    assert.equal(await countOf(gateway, identity), sent.length);
  }),
];
