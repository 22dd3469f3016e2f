// The lines of a log (PROTOCOL.md section 20.2), made here, cut anywhere, and changed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';

import { ChainVerifier, type LogLine, readLogLines } from '@open-presence/client';
import { entryHead, entryId } from '@open-presence/protocol';

import { PortableSha256 } from '../../packages/client/src/log/sha256.ts';
import { cut, randomOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { errorOf } from './error-of.ts';

interface MadeLog {
  readonly bodies: readonly string[];
  readonly bytes: Buffer;
  /** The link of the last entry. */
  readonly link: string;
}

const FIRST_LINK = '0'.repeat(64);

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  return createHash('sha256')
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest();
}

/** `members`: what else stands in a line before the entry. */
function makeLog(bodies: readonly string[], members = ''): MadeLog {
  const lines = [`{"log":"log","head":0,"link":"${FIRST_LINK}"}\n`];
  let link = FIRST_LINK;
  for (const [at, body] of bodies.entries()) {
    const seq = at + 1;
    const id = entryId(seq, seq, 7);
    const own = entryHead({ id, seq, kind: 'garden', room: 'memory-garden', time: seq });
    const salt = sha256(`salt ${seq}`).subarray(0, 16);
    const key = seq % 3 === 0 ? sha256(`key ${seq}`) : undefined;
    const digest = sha256(salt, sha256(body));
    link = sha256(Buffer.from(link, 'hex'), own, digest, key ?? '').toString('hex');
    const keyMember = key === undefined ? '' : `"key":"${key.toString('hex')}",`;
    const entry = `${own}${body === '' ? '' : `,${body}`}}`;
    const proof = `"salt":"${salt.toString('hex')}",${keyMember}`;
    lines.push(`{"link":"${link}",${proof}${members}"entry":${entry}}\n`);
  }
  return { bodies, bytes: Buffer.from(lines.join('')), link };
}

const BODIES = [
  '"text":"тиша"',
  '',
  `"text":"${'long '.repeat(60_000)}"`,
  '"text":"{\\"entry\\":{\\"id\\":\\"x\\"}}"',
  '"nested":{"deep":[{},[]]}',
  `"text":"${'x'.repeat(64 * 1024)}"`,
  '"last":1',
];

async function* inPieces(bytes: Uint8Array, longest: number): AsyncGenerator<Uint8Array> {
  for (const piece of cut(bytes, longest, randomOf(longest))) yield Uint8Array.from(piece);
}

/** The bodies of a log that was verified while it was read. */
async function readAll(bytes: Uint8Array, longest: number): Promise<string[]> {
  const { checkpoint, batches } = await readLogLines(inPieces(bytes, longest));
  const verifier = new ChainVerifier(checkpoint);
  const bodies: string[] = [];
  for await (const batch of verifier.verify(batches))
    for (const line of batch) bodies.push(await bodyOf(line));
  return bodies;
}

async function bodyOf(line: LogLine): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of line.chunks()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

suite('the lines of a log', () => {
  test('are read in whatever pieces they come', async () => {
    const { bytes } = makeLog(BODIES);
    for (const longest of [100, 5000, 70_000, 1_000_000])
      assert.deepEqual(await readAll(bytes, longest), BODIES);
  });

  test('may have members that are not known, before the entry', async () => {
    const members = String.raw`"x":{"entry":{"id":[1,"}"]},"y":"\",\"entry\":"},"z" : null,`;
    assert.deepEqual(await readAll(makeLog(BODIES, members).bytes, 900), BODIES);
  });

  test('need not be read to their end, nor at all', async () => {
    const log = makeLog(BODIES);
    const { checkpoint, batches } = await readLogLines(inPieces(log.bytes, 10_000));
    const verifier = new ChainVerifier(checkpoint);
    let count = 0;
    for await (const batch of verifier.verify(batches)) {
      for (const line of batch) {
        count += 1;
        if (line.seq === 3) for await (const _ of line.chunks()) break;
      }
    }
    assert.equal(count, BODIES.length);
    assert.deepEqual(verifier.checkpoint, { log: 'log', head: BODIES.length, link: log.link });
  });

  test('that break off are told from those that end', async () => {
    const { bytes } = makeLog(BODIES);
    for (const missing of [1, 20, 70_000, bytes.length - 30]) {
      const error = await errorOf(readAll(bytes.subarray(0, -missing), 5000));
      assert.equal(error.code, 'not-a-log');
    }
  });

  test('that are something else are refused with the number of the line', async () => {
    const { bytes } = makeLog(BODIES.slice(0, 2));
    const others = ['{}', '{"entry":{}}', 'x', '{"link":1,"entry":{"id":"x"}}', 'y'.repeat(90_000)];
    for (const other of others) {
      const error = await errorOf(readAll(Buffer.concat([bytes, Buffer.from(`${other}\n`)]), 999));
      assert.equal(error.code, 'not-a-log');
      assert.match(error.message, /^Line 4 of the log /);
      const first = await errorOf(readAll(Buffer.from(`${other}\n`), 999));
      assert.match(first.message, /^Line 1 of the log is no checkpoint/);
    }
  });
});

suite('the verification of a log', () => {
  test('finds any changed character, with the seq of its entry', async () => {
    const bodies = ['"a":"b"', '"text":"тиша"', `"long":"${'x'.repeat(70_000)}"`, '"end":true'];
    const { bytes } = makeLog(bodies);
    const random = randomOf(3);
    const firstEntry = bytes.indexOf('\n') + 1;
    for (let round = 0; round < 150; round += 1) {
      const at = firstEntry + random(round < 50 ? 500 : bytes.length - firstEntry);
      if (bytes[at] === 0x0a) continue;
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ (1 + random(127));
      const seq = bytes.subarray(firstEntry, at).toString('latin1').split('\n').length;
      const error = await errorOf(readAll(changed, 30_000));
      if (error.code === 'broken-chain') assert.ok((error.seq ?? 0) <= seq + 1, error.message);
      else assert.ok(['not-a-log', 'unreadable-entry'].includes(error.code), error.code);
    }
  });

  test('finds an entry that is missing, and one that the gateway has lost', async () => {
    const lines = makeLog(['"a":1', '"b":2', '"c":3'])
      .bytes.toString()
      .split(/(?<=\n)/);
    const without = Buffer.from([...lines.slice(0, 2), ...lines.slice(3)].join(''));
    const missing = await errorOf(readAll(without, 100));
    assert.deepEqual([missing.code, missing.seq], ['broken-chain', 2]);
    const lost = lines[2]?.replace(/"salt":"\w+",/, '').replace('"b":2', '"unreadable":true') ?? '';
    const unreadable = await errorOf(
      readAll(Buffer.from([...lines.slice(0, 2), lost].join('')), 100),
    );
    assert.deepEqual([unreadable.code, unreadable.seq], ['unreadable-entry', 2]);
  });
});

test('SHA-256 for browsers is that of the platform', () => {
  const random = randomOf(5);
  for (let size = 0; size < 300; size += 1) {
    const bytes = Uint8Array.from({ length: size }, () => random(256));
    const pieces = new PortableSha256();
    for (const piece of cut(bytes, 80, random)) pieces.update(piece);
    assert.deepEqual(Buffer.from(pieces.digest()), sha256(bytes));
  }
});
