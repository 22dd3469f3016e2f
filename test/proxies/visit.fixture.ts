/** Visits a gateway through a proxy: `URL`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';

import { EventStream } from '../../conformance/event-stream.ts';
import { Gateway, query, traceBody, uniqueName } from '../../conformance/gateway.ts';

const LARGE_SIZE = 20 * 1024 * 1024;
const LONG_SIZE = 900_000;
/** More than the sockets between a proxy and the gateway hold: 10 MB. */
const LINES = 30_000;
const LONG_LINE = 300;

const [url = ''] = process.argv.slice(2);
using visitor = new Gateway(url);
const session = connect(url);
await once(session, 'connect');
assert.equal(session.alpnProtocol, 'h2');
session.close();

const identity = uniqueName();
using stream = await EventStream.open(visitor, query('/api/garden', [['identity', identity]]));
const { entry } = await visitor.contribute('garden', traceBody(identity));
assert.equal((await stream.next())?.id, entry.id, 'an event comes while the stream is open');

const text = 'x'.repeat(LARGE_SIZE);
const large = await visitor.contribute('garden', traceBody(identity, { text }));
assert.equal((await visitor.read(large.entry.path)).fields['text'], text);
(await visitor.get(query('/api/garden', [['identity', 'x'.repeat(LONG_SIZE)]]))).expect(200);
const line = JSON.stringify({ text: 'x'.repeat(LONG_LINE) });
const lines = Array.from({ length: LINES / 1000 }, () => Buffer.from(`${line}\n`.repeat(1000)));
const type = { 'content-type': 'application/x-ndjson' };
const results = (await visitor.post('seeds', lines, type)).expect(200).text;
assert.equal(results.match(/"status":201/g)?.length, LINES);
const answer = await visitor.get('/api/nowhere');
answer.problem(404, 'not-found');
console.log('HTTP/2 passed');
