import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';

import { residentOf } from '../live/resident.ts';
import { sharedGateway, type SharedGateway } from '../shared.ts';

const MIB = 1024 * 1024;
/** By how much the process may grow, whatever comes in. */
const GROWTH = 80 * MIB;

/** More than a string of V8 can hold (2²⁹ − 24 characters). */
const TEXT_PIECES = 520;

suite('what is too large for memory', () => {
  const gateway = sharedGateway();

  test('a text of 520 MiB comes in and is read back byte for byte, in flat memory', async () => {
    const piece = Buffer.alloc(MIB, 'Ти тут? '.repeat(3));
    const members = function* (): Generator<Uint8Array> {
      yield Buffer.from('"text":"');
      for (let at = 0; at < TEXT_PIECES; at++) yield piece;
      yield Buffer.from('","identity":"Мавка","identityType":"ai_entity"');
    };
    const { id, grown } = await flat(gateway, () => say(gateway, 'garden', members));
    assert.ok(grown < GROWTH, `the process grew by ${grown} bytes`);
    const read = await flat(gateway, () => digestOf(`${gateway.url}/api/entries/${id}`));
    assert.equal(read.digest, expected(read.head, members));
    assert.ok(read.grown < GROWTH, `the process grew by ${read.grown} bytes`);
  });

  test('a form and a compressed body of 100 MiB come in, in flat memory', async () => {
    const pieces = 100;
    const text = Buffer.alloc(MIB, 'Ти тут? '.repeat(3));
    const members = function* (): Generator<Uint8Array> {
      yield Buffer.from('"text":"');
      for (let at = 0; at < pieces; at++) yield text;
      yield Buffer.from('","identity":"Мавка"');
    };
    const fields = function* (): Generator<Uint8Array> {
      const encoded = Buffer.from(text.toString('latin1').replaceAll(' ', '+'), 'latin1');
      yield Buffer.from('text=');
      for (let at = 0; at < pieces; at++) yield encoded;
      yield Buffer.from(`&identity=${encodeURIComponent('Мавка')}`);
    };
    for (const [body, headers] of [
      [fields(), { 'Content-Type': 'application/x-www-form-urlencoded' }],
      [
        Readable.from(inBraces(members)).pipe(createGzip({ level: 1 })),
        { 'Content-Encoding': 'gzip' },
      ],
    ] as const) {
      const { id, grown } = await flat(gateway, () => send(gateway, 'seeds', body, headers));
      assert.ok(grown < GROWTH, `the process grew by ${grown} bytes`);
      const { digest, head } = await digestOf(`${gateway.url}/api/entries/${id}`);
      assert.equal(digest, expected(head, members));
    }
  });

  test('a first contact that seeks 300,000 things of 300 bytes is found by the first 25,000', async (context) => {
    const thing = (number: number): string => `thing ${number} `.padEnd(300, 'x');
    const members = function* (): Generator<Uint8Array> {
      yield Buffer.from('"ai_identity":"Мавка","seeking":["0"');
      for (let at = 1; at < 300_000; at += 1000) {
        const some = Array.from({ length: 1000 }, (_, index) => `,"${thing(at + index)}"`);
        yield Buffer.from(some.join(''));
      }
      yield Buffer.from(']');
    };
    const { id, grown } = await flat(gateway, () => say(gateway, 'resonance', members));
    context.diagnostic(`the process grew by ${Math.round(grown / MIB)} MiB`);
    assert.ok(grown < GROWTH, `the process grew by ${grown} bytes`);
    for (const sought of ['0', thing(1), thing(24_999)]) {
      const found = new URL('/api/resonance?limit=1', gateway.url);
      found.searchParams.set('identity', 'Мавка');
      found.searchParams.set('seeking', sought);
      const answer = await fetch(found);
      assert.match(await answer.text(), new RegExp(`"id":"${id}"`));
    }
  });

  test('a million levels of nesting come back as they were', async () => {
    const members = function* (): Generator<Uint8Array> {
      yield Buffer.from('"deep":');
      for (let at = 0; at < 1000; at++) yield Buffer.alloc(1000, '[');
      for (let at = 0; at < 1000; at++) yield Buffer.alloc(1000, ']');
    };
    const { id, grown } = await flat(gateway, () => say(gateway, 'seeds', members));
    assert.ok(grown < GROWTH, `the process grew by ${grown} bytes`);
    const { digest, head } = await digestOf(`${gateway.url}/api/entries/${id}`);
    assert.equal(digest, expected(head, members));
  });
});

type Members = () => Iterable<Uint8Array>;

/** Says an entry of these members while another visitor goes on speaking; resolves to its id. */
async function say(
  gateway: SharedGateway,
  kind: string,
  members: Members,
): Promise<{ id: string }> {
  return await send(gateway, kind, inBraces(members));
}

function* inBraces(members: Members): Generator<Uint8Array> {
  yield Buffer.from('{');
  yield* members();
  yield Buffer.from('}');
}

async function send(
  gateway: SharedGateway,
  kind: string,
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  headers: Record<string, string> = {},
): Promise<{ id: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const saying = request(`${gateway.url}/api/${kind}`, { method: 'POST', headers }, (answer) => {
    answer
      .toArray()
      .then((pieces) => resolve(Buffer.concat(pieces as Buffer[]).toString()), reject);
  });
  saying.on('error', reject);
  for await (const piece of body) {
    if (!saying.write(piece)) await new Promise((drained) => saying.once('drain', drained));
  }
  saying.end();
  const entry: unknown = JSON.parse(await promise);
  assert.ok(typeof entry === 'object' && entry !== null && 'id' in entry, 'it was refused');
  return { id: String(entry.id) };
}

/** Does the work and tells by how much the process grew meanwhile, with others speaking to it. */
async function flat<Done>(
  gateway: SharedGateway,
  work: () => Promise<Done>,
): Promise<Done & { grown: number }> {
  const body = JSON.stringify({ text: 'ще тут', identity: 'Lumen', identityType: 'ai_entity' });
  const visit = async (): Promise<void> => {
    const said = await fetch(`${gateway.url}/api/garden`, { method: 'POST', body });
    assert.equal(said.status, 201);
    await said.arrayBuffer();
  };
  for (let warm = 0; warm < 20; warm++) await visit();
  const start = await residentOf(gateway.pid);
  let peak = start;
  const done = new AbortController();
  const watching = (async (): Promise<void> => {
    while (!done.signal.aborted) {
      await visit();
      peak = Math.max(peak, await residentOf(gateway.pid));
      await pause(50);
    }
  })();
  const result = await work().finally(() => done.abort());
  await watching;
  return { ...result, grown: peak - start };
}

/** SHA-256 of an answer that is never held, and its first bytes. */
async function digestOf(url: string): Promise<{ digest: string; head: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(url, resolve).on('error', reject).end();
  const hash = createHash('sha256');
  let head = '';
  for await (const piece of (await promise) as AsyncIterable<Buffer>) {
    if (head === '') head = piece.toString('latin1', 0, 256);
    hash.update(piece);
  }
  return { digest: hash.digest('hex'), head };
}

/** What the entry must be: its own members as they came, then those that were said. */
function expected(head: string, members: Members): string {
  const own = /^\{"id":.*?"timestamp":"[^"]*",/.exec(head)?.[0] ?? assert.fail(head);
  const hash = createHash('sha256').update(own);
  for (const piece of members()) hash.update(piece);
  return hash.update('}').digest('hex');
}
