/**
 * Sends 2 GiB through a proxy over HTTP/2, reads them back, and follows a stream that stays silent for
 * longer than the proxy's times: `URL SILENT_SECONDS`.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Kind } from '../../conformance/entry.ts';
import { asObject, asString } from '../../conformance/value.ts';

const LARGE_SIZE = 2 * 1024 ** 3;
const PIECE = Buffer.alloc(1024 * 1024, 'x');
/** More than the gateway's own members take. */
const HEAD_SIZE = 4096;
const BEFORE = Buffer.from('{"text":"');

const [url = '', silence = '60'] = process.argv.slice(2);
const session = connect(url);
await once(session, 'connect');
assert.equal(session.alpnProtocol, 'h2');

const events = session.request({ ':path': '/api/events?kind=seeds', accept: 'text/event-stream' });
let heard = '';
events.setEncoding('utf8').on('data', (text: string) => {
  heard += text;
});
while (!heard.includes('event: head')) await once(events, 'data');

const began = performance.now();
const path = await upload(session);
console.log(`2 GiB stored in ${seconds(began)} s`);
await download(session, path);
console.log(`and read in ${seconds(began)} s`);

await sleep(Number(silence) * 1000);
const said = await send(session, '{"text":"after the silence"}');
while (!heard.includes(said)) await once(events, 'data');
const comments = heard.split('\n').filter((line) => line.startsWith(':')).length;
console.log(`a stream was silent for ${silence} s, but for ${comments} comments, and went on`);
session.destroy();

function post(client: ClientHttp2Session, kind: Kind, length: number): ClientHttp2Stream {
  return client.request({
    ':method': 'POST',
    ':path': `/api/${kind}`,
    'content-type': 'application/json',
    'content-length': length,
  });
}

async function upload(client: ClientHttp2Session): Promise<string> {
  const request = post(client, 'shepit', BEFORE.length + LARGE_SIZE + 2);
  request.write(BEFORE);
  for (let left = LARGE_SIZE; left > 0; left -= PIECE.length)
    if (!request.write(PIECE)) await once(request, 'drain');
  request.end('"}');
  const [headers] = (await once(request, 'response')) as [Record<string, unknown>];
  assert.equal(headers[':status'], 201);
  request.resume();
  return asString(headers['location']);
}

async function download(client: ClientHttp2Session, from: string): Promise<void> {
  const request = client.request({ ':path': from });
  const hash = createHash('sha256');
  let size = 0;
  let head = Buffer.alloc(0);
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    if (head.length < HEAD_SIZE) head = Buffer.concat([head, bytes]);
    size += bytes.length;
    hash.update(bytes);
  }
  const end = head.indexOf('"text":"') + '"text":"'.length;
  assert.equal(size, end + LARGE_SIZE + '"}'.length);
  const expected = createHash('sha256').update(head.subarray(0, end));
  for (let left = LARGE_SIZE; left > 0; left -= PIECE.length) expected.update(PIECE);
  assert.equal(hash.digest('hex'), expected.update('"}').digest('hex'));
}

async function send(client: ClientHttp2Session, body: string): Promise<string> {
  const request = post(client, 'seeds', Buffer.byteLength(body));
  request.end(body);
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return asString(asObject(JSON.parse(text))['id']);
}

function seconds(from: number): number {
  return Math.round((performance.now() - from) / 1000);
}
