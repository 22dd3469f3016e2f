import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { onCallerEnded } from '../../ended-callers.ts';
import type { Log, LogRead, Selection } from '../../log/log.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { fetchBytes, getRequest, openGateway } from '../../gateway.fixture.ts';

describe('a search whose caller leaves', () => {
  const call = (name: string, args: object): string => {
    const params = { name, arguments: args };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return postRequest('/mcp', body, 'Accept: application/json, text/event-stream');
  };
  const skill = (data: object): string => {
    const params = { message: { messageId: '1', role: 'ROLE_USER', parts: [{ data }] } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
    return postRequest('/a2a', body, 'A2A-Version: 1.0');
  };
  const requests: Readonly<Record<string, string>> = {
    'the best first': getRequest('/api/search?q=mint'),
    'in the order of the log': getRequest('/api/search?q=mint&order=newest'),
    'as a listing': getRequest('/api/garden?q=mint'),
    'as a feed': getRequest('/api/garden.atom?q=mint'),
    'through the MCP tool search': call('search', { q: 'mint' }),
    'through the MCP tool read': call('read', { q: 'mint' }),
    'through the A2A skill search': skill({ skill: 'search', q: 'mint' }),
    'through the A2A skill read': skill({ skill: 'read', q: 'mint' }),
  };
  for (const [how, sent] of Object.entries(requests)) {
    it(`ends (${how})`, async () => {
      const started = Promise.withResolvers<AbortSignal>();
      const log = endlessLog(started.resolve);
      await using gateway = await openGateway(log);
      const caller = await gateway.connect();
      caller.send(sent);
      const signal = await Promise.race([
        started.promise,
        caller.until(/^HTTP/).then((received) => assert.fail(received)),
      ]);
      assert.equal(signal.aborted, false);
      await caller[Symbol.asyncDispose]();
      if (!signal.aborted) await once(signal, 'abort');
      assert.deepEqual(gateway.reported, []);
    });

    it(`learns at once that its caller has ended its half (${how})`, async () => {
      const told = Promise.withResolvers<void>();
      const log = endlessLog((signal) => void onCallerEnded(signal, told.resolve));
      await using gateway = await openGateway(log);
      await using caller = await gateway.connect();
      caller.socket.end(sent);
      await Promise.race([told.promise, caller.untilClosed().then((all) => assert.fail(all))]);
    });
  }

  it('does not end for another who asked for the same', async () => {
    const log = openMemoryLog();
    await using gateway = await openGateway(log);
    await gateway.addEntries('mint');
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const readText = log.readText.bind(log);
    log.readText = async function* (selection, joiner) {
      ask();
      await released;
      return yield* readText(selection, joiner);
    };
    const path = '/api/garden?q=mint';
    const leaving = await gateway.connect();
    leaving.send(getRequest(path));
    await asked;
    const answer = fetchBytes(gateway, path);
    await pause(100);
    await leaving[Symbol.asyncDispose]();
    await pause(100);
    release();
    const { status, bytes } = await answer;
    assert.equal(status, 200);
    assert.match(bytes.toString(), /"text":"mint"/);
  });
});

/** A log with searches that never come to an end by themselves. */
function endlessLog(onSearch: (signal: AbortSignal) => void): Log {
  const log = openMemoryLog();
  // oxlint-disable-next-line require-yield
  const endless = async function* ({ signal }: Partial<Selection>): LogRead<never> {
    assert.ok(signal);
    onSearch(signal);
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  };
  log.readRanked = endless;
  log.readEntries = endless;
  log.readText = endless;
  return log;
}

function postRequest(path: string, body: string, ...headers: readonly string[]): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
