// The chain as PROTOCOL.md section 20 defines it, computed here from that text alone.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';

import { draftOf, fill } from '../../packages/gateway/src/log/log.fixture.ts';
import { RowReader } from '../../packages/gateway/src/store/log/row-reader.ts';
import { digestOf as storedDigestOf, linkOf } from '../../packages/gateway/src/store/log/chain.ts';
import { openSqliteLog } from '../../packages/gateway/src/store/store.ts';
import { dataFolder } from '../gateway-process.ts';

interface Vector {
  readonly own: string;
  readonly body: string;
  readonly salt: string;
  readonly key?: string;
  readonly digest: string;
  readonly link: string;
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** What a link is made of: bytes that can be published. */
interface Published {
  readonly own: string;
  readonly body: string;
  readonly salt: Uint8Array;
  readonly key: Uint8Array | undefined;
}

function digestOf({ salt, body }: Pick<Published, 'salt' | 'body'>): Buffer {
  return sha256(salt, sha256(body));
}

function linkAfter(previous: Uint8Array, { own, body, salt, key }: Published): Buffer {
  return sha256(previous, own, digestOf({ salt, body }), key ?? '');
}

suite('the chain', () => {
  test('of the test vectors is what the contract says', async () => {
    const file = join(import.meta.dirname, '..', '..', 'conformance', 'chain-vectors.json');
    const vectors = JSON.parse(await readFile(file, 'utf8')) as readonly Vector[];
    assert.ok(vectors.some(({ key }) => key !== undefined));
    let previous = Buffer.alloc(32);
    for (const { own, body, salt, key, digest, link } of vectors) {
      const published = {
        own,
        body,
        salt: Buffer.from(salt, 'hex'),
        key: key === undefined ? undefined : Buffer.from(key, 'hex'),
      };
      JSON.parse(`${own}${body === '' ? '' : `,${body}`}}`);
      assert.equal(digestOf(published).toString('hex'), digest);
      assert.equal(linkAfter(previous, published).toString('hex'), link);
      if (key === undefined) {
        const head = Buffer.from(own);
        const proof = storedDigestOf(published.salt, sha256(body));
        const stored = linkOf(previous, { head, digest: proof, keyHash: undefined });
        assert.equal(Buffer.from(stored).toString('hex'), link);
      }
      previous = Buffer.from(link, 'hex');
    }
  });

  test('of a log is what the contract says', async () => {
    await using folder = await dataFolder();
    const large = `"text":"${'large '.repeat(30_000)}"`;
    {
      await using log = await openSqliteLog({ folder: folder.path });
      await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          log.append(
            draftOf({
              body: at === 7 ? '' : `"text":"тиша ${at}"`,
              ...(at % 3 === 0 ? { key: `key ${at}` } : {}),
            }),
          ),
        ),
      );
      const spool = log.spool();
      await fill(spool, [Buffer.from(large)]);
      await log.append({ ...draftOf({ key: 'large' }), body: spool });
      await log.append(draftOf());
    }
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'), { readOnly: true });
    const salts = new Set<string>();
    let previous: Uint8Array = Buffer.alloc(32);
    for (const { seq, text, large: file, salt, key, link } of new RowReader(db).rows({
      from: 1,
      to: 42,
    })) {
      const whole = file === undefined ? text.toString() : `${text.toString()}${large}}`;
      const [, own = '', body = ''] = /^(\{.*?"timestamp":"[^"]*"),?(.*)\}$/.exec(whole) ?? [];
      const column = key && sha256(key);
      assert.deepEqual(link, linkAfter(previous, { own, body, salt, key: column }), `entry ${seq}`);
      previous = link;
      salts.add(salt.toString('hex'));
    }
    db.close();
    assert.equal(salts.size, 42);
  });
});
