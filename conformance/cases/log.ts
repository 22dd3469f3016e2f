/** The log with its links. Each link is computed here from PROTOCOL.md section 20.1 alone. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { check, type Case } from '../case.ts';
import type { Entry } from '../entry.ts';
import { Frames } from '../event-stream.ts';
import { uniqueName, traceBody, type Gateway } from '../gateway.ts';
import { asInteger, asObject, asString, parseJson, pluck } from '../value.ts';

const LOG = '/api/log';
const NDJSON = 'application/x-ndjson';

interface Position {
  readonly log: string;
  readonly head: number;
  readonly link: string;
}

interface Line {
  readonly link: string;
  readonly salt: string | undefined;
  /** In place of the salt, where what was said was taken away. */
  readonly digest: string | undefined;
  readonly key: string | undefined;
  readonly seq: number;
  /** As it was printed. */
  readonly entry: string;
}

interface Reading {
  readonly from: Position;
  readonly lines: readonly Line[];
}

function positionOf(text: string): Position {
  const { log, head, link } = asObject(parseJson(text));
  const position = { log: asString(log), head: asInteger(head), link: asString(link) };
  assert.match(position.link, /^[0-9a-f]{64}$/);
  return position;
}

function lineOf(text: string): Line {
  const { link, salt, digest, key, entry } = asObject(parseJson(text));
  const at = text.indexOf('"entry":{"id":');
  assert.ok(at > 0 && text.endsWith('}}'), text.slice(0, 300));
  return {
    link: asString(link),
    salt: salt === undefined ? undefined : asString(salt),
    digest: digest === undefined ? undefined : asString(digest),
    key: key === undefined ? undefined : asString(key),
    seq: asInteger(asObject(entry)['seq']),
    entry: text.slice(at + '"entry":'.length, -1),
  };
}

export async function readLog(gateway: Gateway, query: string): Promise<Reading> {
  const answer = (await gateway.get(`${LOG}${query}`)).expect(200);
  assert.equal(answer.type, NDJSON);
  assert.ok(answer.text.endsWith('\n'));
  const [first = '', ...rest] = answer.text.slice(0, -1).split('\n');
  return { from: positionOf(first), lines: rest.map(lineOf) };
}

async function position(gateway: Gateway): Promise<Position> {
  return positionOf((await gateway.get(`${LOG}/head`)).expect(200).text);
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Nothing is known of an entry that the gateway has lost. */
export function assertLinked({ from, lines }: Reading): void {
  let { head: seq, link } = from;
  for (const line of lines) {
    assert.equal(line.seq, (seq += 1), 'no entry is left out');
    if (line.salt !== undefined || line.digest !== undefined)
      assert.equal(linkAfter(link, line), line.link, `entry ${seq}`);
    ({ link } = line);
  }
}

function linkAfter(link: string, { entry, salt = '', digest, key = '' }: Line): string {
  const own = /^.*?"timestamp":"[^"]*"/.exec(entry)?.[0] ?? '';
  const body = entry.slice(own.length + 1, -1);
  const hash =
    digest === undefined
      ? sha256(Buffer.from(salt, 'hex'), sha256(body))
      : Buffer.from(digest, 'hex');
  return sha256(Buffer.from(link, 'hex'), own, hash, Buffer.from(key, 'hex')).toString('hex');
}

/** Entries with and without members, a large one, and one with an idempotency key. */
async function contributeSome(gateway: Gateway): Promise<Entry[]> {
  const name = uniqueName();
  const bodies = [
    traceBody(name),
    '{}',
    traceBody(name, { text: 'large '.repeat(30_000) }),
    '{"text":"\\u0442иша","n":1.50e3}',
  ];
  const entries: Entry[] = [];
  for (const body of bodies)
    entries.push((await gateway.contribute(body.includes(name) ? 'garden' : 'shepit', body)).entry);
  const keyed = { 'idempotency-key': `"${name}"` };
  entries.push((await gateway.contribute('seeds', '{"idea":"moss"}', keyed)).entry);
  return entries;
}

const textsOf = (entries: readonly Entry[]): string[] => entries.map(({ text }) => text);

export const log: readonly Case[] = [
  check('20.1', 'links', async (gateway) => {
    const before = await position(gateway);
    const entries = await contributeSome(gateway);
    const reading = await readLog(gateway, `?after=${before.head}`);
    assert.deepEqual(reading.from, before);
    assertLinked(reading);
    const keyed = reading.lines.find(({ seq }) => seq === entries.at(-1)?.seq);
    assert.match(keyed?.key ?? '', /^[0-9a-f]{64}$/);
    assert.equal(reading.lines.find(({ seq }) => seq === entries[0]?.seq)?.key, undefined);
  }),
  check('20.2', 'lines', async (gateway) => {
    const { head } = await position(gateway);
    const entries = await contributeSome(gateway);
    const { lines } = await readLog(gateway, `?after=${head}`);
    const texts = new Map(lines.map(({ seq, entry }) => [seq, entry]));
    assert.deepEqual(
      entries.map(({ seq }) => texts.get(seq)),
      textsOf(await Promise.all(entries.map(({ path }) => gateway.read(path)))),
    );
  }),
  check('20.2', 'range', async (gateway) => {
    const [first] = await contributeSome(gateway);
    const start = await readLog(gateway, '?limit=3');
    assert.deepEqual([start.from.head, start.from.link], [0, '0'.repeat(64)]);
    assert.deepEqual(pluck(start.lines, 'seq'), [1, 2, 3]);
    assertLinked(start);
    const after = (first?.seq ?? 0) + 1;
    const some = await readLog(gateway, `?after=${after}&limit=2`);
    assert.equal(some.from.head, after);
    assert.equal(some.lines.length, 2);
    assertLinked(some);
    assert.deepEqual((await readLog(gateway, `?after=${after}&limit=0`)).lines, []);
  }),
  check('20.2', 'parameters', async (gateway) => {
    for (const query of ['?kind=garden', '?before=3', '?order=newest', '?q=moss', '?since=2026']) {
      const answer = (await gateway.get(`${LOG}${query}`)).expect(400);
      assert.equal(answer.json['code'], 'invalid-parameter', query);
    }
    const { head, log: name } = await position(gateway);
    const answer = (await gateway.get(`${LOG}?after=${head + 1_000_000}`)).expect(400);
    assert.equal(answer.json['log'], name);
  }),
  check('20.3', 'events', async (gateway) => {
    const before = await position(gateway);
    await contributeSome(gateway);
    const headers = { accept: 'text/event-stream' };
    const path = `${LOG}?after=${before.head}&limit=5`;
    const answer = (await gateway.get(path, headers)).expect(200);
    assert.equal(answer.type, 'text/event-stream');
    const frames = new Frames().push(answer.bytes).filter(({ data }) => data !== undefined);
    const [first, ...events] = frames;
    assert.equal(first?.event, 'checkpoint');
    assert.deepEqual([positionOf(first.data ?? ''), first.id], [before, String(before.head)]);
    const { lines } = await readLog(gateway, `?after=${before.head}&limit=5`);
    assert.deepEqual(
      events.map(({ data }) => lineOf(data ?? '')),
      lines,
    );
    for (const { id, event, data } of events) {
      const { seq, entry } = lineOf(data ?? '');
      assert.equal(id, String(seq));
      assert.equal(event, asObject(parseJson(entry))['kind']);
    }
  }),
  check('20.4', 'checkpoint', async (gateway) => {
    await contributeSome(gateway);
    const kept = await position(gateway);
    await contributeSome(gateway);
    const { from, lines } = await readLog(gateway, `?after=${kept.head}&limit=0`);
    assert.deepEqual([from, lines], [kept, []]);
    const { checkpoint, log: name } = (await gateway.get('/api/discover')).expect(200).json;
    const known = positionOf(JSON.stringify(checkpoint));
    assert.equal(known.log, name);
    assert.ok(known.head > kept.head);
  }),
];
