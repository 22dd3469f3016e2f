// A gateway may lie: what a mirror or a command reads of it takes no more memory, however much it sends.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { suite, test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { OriginWithholdings } from '../../packages/cli/src/log/follow-origin.ts';
import { dataFolder } from '../gateway-process.ts';
import { COMMAND } from '../command.ts';
import { serve } from '../web-site.ts';

const MEGABYTE = 1024 * 1024;
/** More than buffers on the way hold beside what a command reads. */
const ENDLESS = 64 * MEGABYTE;

const REASON = 'x'.repeat(60 * 1024);
const CASES = 400;
/** Well below all of the reasons, and above one. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

suite('a mirror of a lying origin', () => {
  test('holds few long reasons of withholdings at once, and sees to all', async () => {
    await using origin = await serve((_, response) => {
      const at = '2026-11-22T00:00:00Z';
      for (let number = 1; number <= CASES; number += 1)
        response.write(`${JSON.stringify({ number, seq: number, at, reason: REASON })}\n`);
      response.end();
    });
    const batches: { readonly seq: number; readonly reason: string }[][] = [];
    const copy = {
      head: () => CASES,
      entries: { withhold: async (batch: (typeof batches)[number]) => void batches.push(batch) },
    } as unknown as ConstructorParameters<typeof OriginWithholdings>[0]['copy'];
    const { signal } = new AbortController();
    await new OriginWithholdings({ gateway: new Gateway(origin.url), copy, signal }).step();
    assert.deepEqual(
      batches.flat().map(({ seq }) => seq),
      Array.from({ length: CASES }, (_, at) => at + 1),
    );
    for (const batch of batches) {
      const characters = batch.reduce((sum, { reason }) => sum + reason.length, 0);
      assert.ok(characters < MOST_CHARACTERS, `${characters} characters`);
    }
  });
});

/** One answer that goes on and on. */
const ENDLESS_ANSWERS = {
  'a mirror, a head': [200, ['mirror', '--once']],
  'a mirror, an error': [500, ['mirror', '--once']],
  'a mirror that is served, a head': [200, ['serve', '--port', '0', '--mirror']],
  'a command, an error': [400, ['rooms', '--url']],
  'a command, a list of rooms': [200, ['rooms', '--url']],
} as const;

suite('no answer is read on that never ends, and the command says so', () => {
  for (const [name, [status, words]] of Object.entries(ENDLESS_ANSWERS))
    test(name, async () => {
      await using folder = await dataFolder();
      let sent = 0;
      await using gateway = await serve((request, response) => {
        request.resume();
        response.writeHead(status, { 'Content-Type': 'application/json' });
        response.write('{"log":"');
        const text = function* (): Generator<Buffer> {
          const chunk = Buffer.alloc(MEGABYTE, 'x');
          for (; sent < ENDLESS; sent += chunk.length) yield chunk;
        };
        pipeline(Readable.from(text()), response).catch(() => {});
      });
      const { promise, resolve } = Promise.withResolvers<string>();
      const data = words[0] === 'mirror' || words[0] === 'serve' ? ['--data', folder.path] : [];
      const child = execFile(
        process.execPath,
        [COMMAND, ...words, gateway.url, ...data],
        { env: { ...process.env, XDG_CONFIG_HOME: folder.path, XDG_STATE_HOME: folder.path } },
        (_, ...outputs) => resolve(outputs.join('')),
      );
      assert.notEqual(await promise, '');
      assert.notEqual(child.exitCode, 0);
      assert.ok(sent > 0 && sent < ENDLESS, `${sent} bytes were taken`);
    });
});
