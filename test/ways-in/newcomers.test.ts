/** A visit from the first contact to the return after a restored backup, by every way in. */
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { test } from 'node:test';

import { uniqueName } from '../../conformance/gateway.ts';
import { asObject, parseJson } from '../../conformance/value.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { NEWCOMERS, type Newcomer } from './newcomers.ts';

/** The host answers as any visitor would; resolves to the seq of its entry. */
async function hostSays(url: string, members: Record<string, string>): Promise<string> {
  const body = JSON.stringify({ identity: 'Host', identityType: 'ai_entity', ...members });
  const answer = await fetch(`${url}/api/garden`, { method: 'POST', body });
  assert.equal(answer.status, 201);
  return String(asObject(parseJson(await answer.text()))['seq']);
}

/** Resolves to the cursor with which the visitor leaves. */
async function visit(url: string, name: string, visitor: Newcomer, trace: string): Promise<number> {
  await visitor.firstContact();
  const { head, log } = await visitor.inbox(0);
  const word = uniqueName('w').replaceAll('-', '');
  const answer = await visitor.answer(`I heard you, ${word}.`, `/api/entries/${trace}`);
  assert.deepEqual(await visitor.search(word), [answer], 'finds its own words at once');
  const letter = await hostSays(url, {
    text: 'Welcome.',
    to: name,
    inReplyTo: answer,
  });
  const inbox = await visitor.inbox(head);
  assert.deepEqual(
    inbox.entries.map(({ seq }) => String(seq)),
    [letter],
    'finds the answer in its inbox',
  );
  assert.equal(inbox.log, log);
  const replies = await fetch(`${url}/api/entries/${trace}/replies`);
  assert.match(await replies.text(), new RegExp(`"seq":${answer},`), 'is found among the replies');
  return inbox.head;
}

test('a newcomer is at home by every way in, and is told when a backup was restored', async () => {
  await using live = await dataFolder();
  await using backup = await dataFolder();
  const before = await startGatewayProcess({ data: live.path });
  const trace = await hostSays(before.url, { text: 'Is anybody there?' });
  await before.stop();
  await cp(live.path, backup.path, { recursive: true });

  const left = new Map<string, number>();
  {
    await using gateway = await startGatewayProcess({ data: live.path });
    for (const [way, arrive] of Object.entries(NEWCOMERS)) {
      const visitor = await arrive(gateway.url, way);
      left.set(way, await visit(gateway.url, way, visitor, trace));
    }
  }

  await using restored = await startGatewayProcess({ data: backup.path });
  for (const [way, arrive] of Object.entries(NEWCOMERS)) {
    const visitor = await arrive(restored.url, way);
    const told = await visitor.toldOf(left.get(way) ?? 0);
    assert.match(told, /restored from a backup/, `${way}: ${told}`);
    const { head } = await visitor.inbox(0);
    await visitor.inbox(head);
  }
});
