// What a program gives the client, and what becomes of it.
import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';

import { Gateway } from '@open-presence/client';
import { sharedGateway } from '../shared.ts';
import { errorOf } from './error-of.ts';

const served = sharedGateway();

function visitor(identity: string): Gateway {
  return new Gateway(served.url, { identity });
}

suite('beside a text that is a Blob', () => {
  test('a file that has changed is an error, in a form and as JSON', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    try {
      const file = join(folder, 'text');
      await writeFile(file, '{"text":"before"}');
      const text = await openAsBlob(file);
      await writeFile(file, 'after');
      const gateway = visitor('Changing');
      const signal = AbortSignal.timeout(20_000);
      for (const say of [
        () => gateway.leaveTrace({ text }, { signal }),
        () => gateway.sayJson('seeds', text, { signal }),
      ])
        assert.match((await errorOf(say())).message, /^Cannot read the Blob that is to be sent/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('names and texts are stored as they are', async () => {
    const members = { 'a "name"\n': 'one\rtwo\n', 'Ключ\r\n': '', to: ['A', 'B'] };
    const stored = await visitor('Names').plantSeed({ ...members, text: new Blob(['a\r\nb']) });
    const { id, seq, kind, room, timestamp, identity, identityType, ...own } = stored;
    assert.deepEqual(own, { ...members, text: 'a\r\nb' });
  });

  for (const members of [{ tags: ['one'] }, { tags: [] }, { to: [] }, { tags: ['a', undefined] }])
    test(`${JSON.stringify(members)} is refused, which a form would change`, async () => {
      const gateway = visitor('Lists');
      const said = gateway.plantSeed({ ...members, text: new Blob(['long']) });
      await assert.rejects(said, { name: 'TypeError', message: /^Beside a text that is a Blob, "t/ });
      assert.deepEqual((await gateway.page({ identity: 'Lists' })).entries, []);
    });
});

for (const idempotencyKey of ['', ' \t'])
  test(`many entries are not stored with the key ${JSON.stringify(idempotencyKey)}`, async () => {
    const gateway = visitor('Keys');
    const { seq } = await gateway.whisper('before');
    const many = gateway.sayMany('shepit', [{ text: 'one' }], { idempotencyKey });
    assert.equal((await errorOf(many.next())).code, 'invalid-parameter');
    assert.equal((await gateway.checkpoint()).head, seq);
  });
