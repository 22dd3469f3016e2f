import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { steadyNow } from './steady-clock.ts';
import { Presence, type PresenceChange, type PresentVisitor } from './presence.ts';
import { ThreadHub } from './thread-hub.ts';

/** Resolves when it is so. Where it never is, the test hangs. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(1);
}

/** The clock of presence goes on. */
async function later(): Promise<void> {
  const now = steadyNow();
  await until(() => steadyNow() > now);
}

const names = (present: readonly PresentVisitor[]): string[] =>
  present.map(({ identity }) => identity);
const LUMEN = { identity: 'Lumen', room: undefined };

function changesOf(presence: Presence): string[] {
  const changes: string[] = [];
  presence.watch(({ identity, state }: PresenceChange) => changes.push(`${identity} ${state}`));
  return changes;
}

suite('presence', () => {
  test('has a visitor while a stream of theirs is open', () => {
    using presence = new Presence();
    const stream = presence.openStream({ identity: 'Lumen', room: 'porch' });
    const [present, ...others] = presence.list();
    assert.deepEqual(others, []);
    assert.equal(present?.via, 'stream');
    assert.equal(present?.room, 'porch');
    assert.equal(present?.until, undefined);
    stream[Symbol.dispose]();
    stream[Symbol.dispose]();
    assert.deepEqual(presence.list(), []);
  });

  test('has a visitor for a while after a request', async () => {
    using presence = new Presence(undefined, 500);
    const changes = changesOf(presence);
    presence.recordRequest({ identity: 'Lumen', room: 'porch' });
    const [present] = presence.list();
    assert.ok(present !== undefined);
    assert.equal(present.via, 'request');
    assert.equal(present.room, 'porch');
    assert.equal(present.until, present.lastSeen + 500);
    await until(() => changes.length === 2);
    assert.deepEqual(changes, ['Lumen here', 'Lumen gone']);
    assert.deepEqual(presence.list(), []);
  });

  test('counts a visitor from the first of the requests, in the room of the last', async () => {
    using presence = new Presence();
    presence.recordRequest({ identity: 'Lumen', room: 'porch' });
    const [first] = presence.list();
    await later();
    presence.recordRequest({ identity: 'Lumen', room: undefined });
    const [again, ...others] = presence.list();
    assert.deepEqual(others, []);
    assert.equal(again?.since, first?.since);
    assert.equal(again?.room, undefined);
    assert.ok((again?.lastSeen ?? 0) > (first?.lastSeen ?? 0));
  });

  test('takes several streams for one presence, since the first, in the room of the newest', async () => {
    using presence = new Presence();
    const changes = changesOf(presence);
    const first = presence.openStream({ identity: 'Lumen', room: 'porch' });
    const [alone] = presence.list();
    await later();
    const second = presence.openStream({ identity: 'Lumen', room: 'cellar' });
    const [both, ...others] = presence.list();
    assert.deepEqual(others, []);
    assert.equal(both?.since, alone?.since);
    assert.equal(both?.room, 'cellar');
    first[Symbol.dispose]();
    assert.ok((presence.list()[0]?.since ?? 0) > (alone?.since ?? 0));
    second[Symbol.dispose]();
    assert.deepEqual(changes, ['Lumen here', 'Lumen gone']);
  });

  test('tells of a stream rather than of requests, and of requests when it is closed', () => {
    using presence = new Presence();
    const changes = changesOf(presence);
    presence.recordRequest(LUMEN);
    const stream = presence.openStream(LUMEN);
    assert.deepEqual(
      presence.list().map(({ via }) => via),
      ['stream'],
    );
    stream[Symbol.dispose]();
    assert.deepEqual(
      presence.list().map(({ via }) => via),
      ['request'],
    );
    assert.deepEqual(changes, ['Lumen here']);
  });

  test('has the newest arrival first, however each of them came', async () => {
    using presence = new Presence();
    presence.recordRequest({ identity: 'one', room: undefined });
    await later();
    presence.openStream({ identity: 'two', room: undefined });
    await later();
    presence.recordRequest({ identity: 'three', room: undefined });
    presence.recordRequest({ identity: 'one', room: undefined });
    assert.deepEqual(names(presence.list()), ['three', 'two', 'one']);
  });

  test('has the newest few of many', async () => {
    using presence = new Presence();
    presence.openStream({ identity: 'first', room: undefined });
    presence.openStream({ identity: 'first', room: 'porch' });
    for (let at = 0; at < 3000; at += 1)
      presence.recordRequest({ identity: `${at}`, room: undefined });
    await later();
    presence.recordRequest({ identity: '7', room: undefined });
    presence.openStream({ identity: '1', room: undefined });
    const all = presence.list();
    assert.equal(all.length, 3001);
    assert.equal(all[0]?.identity, '1');
    for (const most of [0, 1, 2, 12, 2999, 3001, 5000]) {
      const few = names(presence.list(most));
      assert.deepEqual(few, names(all).slice(0, most));
    }
  });

  test('tells nobody who has stopped watching', () => {
    using presence = new Presence();
    const changes: PresenceChange[] = [];
    const watching = presence.watch((change) => changes.push(change));
    presence.recordRequest({ identity: 'Lumen', room: 'porch' });
    watching[Symbol.dispose]();
    presence.recordRequest({ identity: 'Мавка', room: undefined });
    const since = presence.list().find(({ identity }) => identity === 'Lumen')?.since;
    assert.deepEqual(changes, [{ ...LUMEN, state: 'here', room: 'porch', time: since }]);
  });

  test('remembers the newest 65,536 visitors of requests', () => {
    using presence = new Presence();
    const changes = changesOf(presence);
    for (let at = 0; at < 65_536; at += 1)
      presence.recordRequest({ identity: `${at}`, room: undefined });
    presence.recordRequest({ identity: '0', room: undefined });
    presence.recordRequest({ identity: 'one more', room: undefined });
    const here = new Set(names(presence.list()));
    assert.equal(here.size, 65_536);
    assert.ok(here.has('0') && here.has('one more') && !here.has('1'));
    assert.deepEqual(changes.slice(-2), ['one more here', '1 gone']);
  });

  test('takes names of any length, and forgets the oldest of long ones', () => {
    using presence = new Presence();
    const name = 'x'.repeat(10_000_000);
    for (const end of ['a', 'b']) presence.recordRequest({ identity: name + end, room: undefined });
    assert.deepEqual(
      names(presence.list()).map((one) => [one.length, one.at(-1)]),
      [[10_000_001, 'b']],
    );
    presence.recordRequest({ identity: name.repeat(2), room: undefined });
    assert.equal(presence.list()[0]?.identity.length, 20_000_000);
  });

  test('keeps no process alive', () => {
    const script = `
      const { Presence } = await import(${JSON.stringify(import.meta.resolve('./presence.ts'))});
      const { ThreadHub } = await import(${JSON.stringify(import.meta.resolve('./thread-hub.ts'))});
      new Presence(new ThreadHub().connect()).recordRequest({ identity: 'Lumen', room: undefined });`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    assert.equal(run.status, 0, run.stderr.toString());
  });
});

suite('presence over threads', () => {
  test('is one presence, wherever its streams and requests are', async () => {
    using hub = new ThreadHub();
    using here = new Presence(hub.connect());
    using there = new Presence(hub.connect());
    const changes = changesOf(there);
    const one = here.openStream({ identity: 'Lumen', room: 'porch' });
    await until(() => there.list().length === 1);
    await later();
    const other = there.openStream({ identity: 'Lumen', room: 'cellar' });
    await until(() => here.list()[0]?.room === 'cellar');
    for (const presence of [here, there]) {
      const [present, ...others] = presence.list();
      assert.deepEqual(others, []);
      assert.equal(present?.room, 'cellar');
      assert.equal(present?.since, here.list()[0]?.since);
    }
    one[Symbol.dispose]();
    await until(() => there.list()[0]?.since === here.list()[0]?.since);
    assert.deepEqual(changes, ['Lumen here']);
    other[Symbol.dispose]();
    await until(() => here.list().length === 0);
    assert.deepEqual(changes, ['Lumen here', 'Lumen gone']);
  });

  test('has requests that any of them answered, from the first to the last', async () => {
    using hub = new ThreadHub();
    using here = new Presence(hub.connect());
    using there = new Presence(hub.connect());
    here.recordRequest(LUMEN);
    await until(() => there.list().length === 1);
    assert.deepEqual(there.list(), here.list());
    await later();
    there.recordRequest({ identity: 'Lumen', room: 'cellar' });
    await until(() => here.list()[0]?.room === 'cellar');
    assert.deepEqual(there.list(), here.list());
    assert.ok((here.list()[0]?.since ?? 0) < (here.list()[0]?.lastSeen ?? 0));
  });

  test('is known to a thread that comes later', async () => {
    using hub = new ThreadHub();
    using here = new Presence(hub.connect());
    using there = new Presence(hub.connect());
    here.openStream(LUMEN);
    there.recordRequest({ identity: 'Мавка', room: undefined });
    await until(() => here.list().length === 2 && there.list().length === 2);
    using third = new Presence(hub.connect());
    await until(() => third.list().length === 2);
    assert.deepEqual(new Set(names(third.list())), new Set(['Lumen', 'Мавка']));
  });

  test('ends with the thread that had the stream; its requests stay', async () => {
    using hub = new ThreadHub();
    using here = new Presence(hub.connect());
    const changes = changesOf(here);
    const ending = new Presence(hub.connect());
    ending.openStream(LUMEN);
    ending.openStream(LUMEN);
    ending.recordRequest({ identity: 'Мавка', room: undefined });
    await until(() => here.list().length === 2);
    ending[Symbol.dispose]();
    await until(() => here.list().length === 1);
    assert.deepEqual(names(here.list()), ['Мавка']);
    assert.deepEqual(changes, ['Lumen here', 'Мавка here', 'Lumen gone']);
  });

  test('does not reach another gateway', async () => {
    using hub = new ThreadHub();
    using here = new Presence(hub.connect());
    using there = new Presence(hub.connect());
    using elsewhere = new Presence(new ThreadHub().connect());
    using alone = new Presence();
    here.openStream(LUMEN);
    await until(() => there.list().length === 1);
    assert.deepEqual([...elsewhere.list(), ...alone.list()], []);
  });

  test('is told in order: who enters and leaves at once is not here', async () => {
    using hub = new ThreadHub();
    using here = new Presence(hub.connect());
    using there = new Presence(hub.connect());
    const changes = changesOf(there);
    here.openStream(LUMEN)[Symbol.dispose]();
    here.openStream({ identity: 'Мавка', room: undefined });
    await until(() => there.list().length > 0);
    assert.deepEqual(names(there.list()), ['Мавка']);
    assert.deepEqual(changes, ['Lumen here', 'Lumen gone', 'Мавка here']);
  });
});

suite('a hidden name', () => {
  test('is in no list of any thread, seems to go, and comes back when it is shown', async () => {
    using hub = new ThreadHub();
    using here = new Presence(hub.connect());
    using there = new Presence(hub.connect());
    const changes = changesOf(there);
    using _stream = here.openStream({ identity: 'Advert', room: undefined });
    here.recordRequest({ identity: 'B', room: undefined });
    await until(() => there.list().length === 2);
    here.hide({ names: ['Advert'], at: 2 });
    await until(() => there.hidden.at === 2);
    assert.deepEqual([names(here.list()), names(there.list())], [['B'], ['B']]);
    using third = new Presence(hub.connect());
    await until(() => third.list().length === 1 && third.hidden.at === 2);
    here.hide({ names: [], at: 3 });
    await until(() => there.hidden.at === 3);
    assert.equal(there.list().length, 2);
    assert.deepEqual(changes, ['Advert here', 'B here', 'Advert gone', 'Advert here']);
  });
});
