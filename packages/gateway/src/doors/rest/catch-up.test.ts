import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { CatchUpDocument } from '@open-presence/protocol';

import { fetchBytes, openGateway, type TestGateway } from '../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';

const open = (): ReturnType<typeof openGateway> => openGateway(openMemoryLog());

async function catchUp(
  gateway: TestGateway,
  query: string,
): Promise<CatchUpDocument & { size: number }> {
  const { bytes, status } = await fetchBytes(gateway, `/api/catch-up?${query}`);
  assert.equal(status, 200, bytes.toString());
  return { ...(JSON.parse(bytes.toString()) as CatchUpDocument), size: bytes.length };
}

async function trace(
  gateway: TestGateway,
  identity: string,
  members: Readonly<Record<string, unknown>>,
): Promise<string> {
  return await gateway.say('garden', { text: 'quiet', identity, identityType: 'ai', ...members });
}

suite('catching up', () => {
  test('has what is said to a name, answers it or mentions it, and what that answers', async () => {
    await using gateway = await open();
    const own = await trace(gateway, 'Lumen', { text: 'I planted mint' });
    const answer = await trace(gateway, 'Mova', { text: 'mind the roots', inReplyTo: own });
    await trace(gateway, 'Mova', { text: 'for nobody' });
    await trace(gateway, 'Oksana', { text: 'for you', to: 'Lumen', inReplyTo: answer });
    await trace(gateway, 'Third', { text: 'ask @Lumen about it' });
    const found = await catchUp(gateway, 'identity=Lumen');
    assert.deepEqual(
      found.concerns.map(({ seq, from, why, answers, root }) => [
        seq,
        from,
        why,
        answers?.text,
        root,
      ]),
      [
        [5, 'Third', ['mention'], undefined, found.concerns[0]?.id],
        [4, 'Oksana', ['to'], 'mind the roots', own],
        [2, 'Mova', ['reply'], 'I planted mint', own],
      ],
    );
    assert.deepEqual([found.since.after, found.after], [0, 5]);
    assert.deepEqual(found.elsewhere.kinds, { garden: 5 });
    assert.deepEqual(
      found.elsewhere.threads.map(({ id, entries }) => [id, entries]),
      [[own, 3]],
    );
    assert.deepEqual(found.more, []);
  });

  test('finds mentions of a name that begins with a sign', async () => {
    await using gateway = await open();
    for (const name of ['.NET', '[GPT]', '#1', '“Mova”', '-x']) {
      await trace(gateway, 'Third', { text: `ask @${name}, or write to nobody@${name}` });
      const { concerns } = await catchUp(gateway, `identity=${encodeURIComponent(name)}&after=0`);
      assert.deepEqual(
        concerns.map(({ why }) => why),
        [['mention']],
        name,
      );
    }
    await trace(gateway, 'Third', { text: 'at 3 @ -x, nobody@[GPT]' });
    assert.equal((await catchUp(gateway, 'identity=-x&after=0')).concerns.length, 1);
  });

  test('says why each entry concerns the name, and shows its beginning, however large it is', async () => {
    await using gateway = await open();
    const long = 'mint and thyme '.repeat(6000);
    const names = Array.from({ length: 20 }, (_, at) => `name ${at}`);
    await trace(gateway, 'A', { to: ['Lumen'], longer: long });
    await gateway.say('seeds', { to: 'Lumen', data: [long], identity: 'B' });
    await trace(gateway, 'C', { to: [...names, 'Lumen'] });
    await trace(gateway, 'Lumen', { text: long, to: 'Lumen', last: 1 });
    const { concerns } = await catchUp(gateway, 'identity=Lumen&after=0');
    assert.deepEqual(
      concerns.map(({ from, why, to, text }) => [from, why, to?.length, text.slice(0, 40)]),
      [
        ['C', ['to'], 8, 'quiet'],
        ['B', ['to'], undefined, '{"to":"Lumen","data":["mint and thyme mi'],
        ['A', ['to'], undefined, 'quiet'],
      ],
    );
    assert.match(concerns[1]?.text ?? '', /…$/);
    const names300 = 'n'.repeat(300);
    await trace(gateway, 'D', { to: names300 });
    const [own] = (await catchUp(gateway, `identity=${names300}`)).concerns;
    assert.deepEqual(own?.why, ['to']);
  });

  test('leaves out what the name said itself and, without a cursor, what it has answered', async () => {
    await using gateway = await open();
    const own = await trace(gateway, 'Lumen', { to: 'Lumen' });
    const answer = await trace(gateway, 'Mova', { inReplyTo: own });
    await trace(gateway, 'Lumen', { text: 'to myself', to: 'Lumen', inReplyTo: own });
    const seqsOf = async (query: string): Promise<number[]> =>
      (await catchUp(gateway, query)).concerns.map(({ seq }) => seq);
    assert.deepEqual(await seqsOf('identity=Lumen'), [2]);
    await trace(gateway, 'Lumen', { inReplyTo: `/api/entries/${answer}` });
    assert.deepEqual(await seqsOf('identity=Lumen'), []);
    assert.deepEqual(await seqsOf('identity=Lumen&after=0'), [2]);
  });

  test('keeps what was said between two entries of the name until it is answered or seen', async () => {
    await using gateway = await open();
    const told = async (query = ''): Promise<unknown> => {
      const { since, concerns, more } = await catchUp(gateway, `identity=Lumen${query}`);
      return [since.after, concerns.map(({ seq }) => seq), more.map(({ count }) => count)];
    };
    const own = await trace(gateway, 'Lumen', { text: 'working on t9' });
    await trace(gateway, 'Oksana', { text: 'stop t9', to: 'Lumen' });
    await trace(gateway, 'Oksana', { text: 'ask @Lumen' });
    await trace(gateway, 'Lumen', { text: 'still working on t9' });
    assert.deepEqual(await told(), [0, [3, 2], []]);
    for (const seen of [5, 99, -1, 1.5, 'x', null]) await trace(gateway, 'Lumen', { seen });
    assert.deepEqual(await told(), [0, [3, 2], []]);
    await trace(gateway, 'Lumen', { seen: '4' });
    await trace(gateway, 'Mova', { inReplyTo: own });
    assert.deepEqual(await told(), [4, [12], [1]]);
    const [older] = (await catchUp(gateway, 'identity=Lumen')).more;
    assert.deepEqual(await told(`&${older?.path?.split('?')[1]?.replace('identity=Lumen&', '')}`), [
      4,
      [2],
      [],
    ]);
    const { bytes } = await fetchBytes(gateway, '/api/catch-up?identity=Lumen&budget=9000', {
      Accept: 'text/markdown',
    });
    assert.match(bytes.toString(), /^- 1 older, to you and not answered yet: GET /m);
  });

  test('takes an id as a whole', async () => {
    await using gateway = await open();
    const own = await trace(gateway, 'Lumen', { text: 'mint' });
    const unknown = own.replace(/^......../, '01a1fe76');
    await trace(gateway, 'Mova', { to: 'Lumen', inReplyTo: unknown });
    const [found] = (await catchUp(gateway, 'identity=Lumen')).concerns;
    assert.deepEqual([found?.why, found?.answers], [['to'], undefined]);
  });

  test('looks at the newest 1,000 that concern the name, and says so', async () => {
    await using gateway = await open();
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const body = '{"text":"quiet","to":"Lumen"}\n'.repeat(1002);
    await (await fetch(`${gateway.url}/api/shepit`, { method: 'POST', headers, body })).text();
    const { more, notes, next } = await catchUp(gateway, 'identity=Lumen&budget=1');
    assert.deepEqual(
      [more[0]?.count, next],
      [999, '/api/catch-up?identity=Lumen&budget=1&before=1002'],
    );
    assert.match(notes.join(' '), /newest 1000 entries/);
    const last = await catchUp(gateway, 'identity=Lumen&budget=1&before=4');
    assert.deepEqual([last.concerns[0]?.seq, last.more[0]?.count], [3, 2]);
  });

  test('knows what was said under two names as said under either', async () => {
    await using gateway = await open();
    const both = { ai_identity: 'Model' };
    const own = await trace(gateway, 'Lumen', { ...both, to: ['Lumen', 'Model'] });
    await trace(gateway, 'Mova', { inReplyTo: own });
    for (const name of ['Lumen', 'Model']) {
      const { concerns } = await catchUp(gateway, `identity=${name}&after=0`);
      assert.deepEqual(
        concerns.map(({ from, why }) => [from, why]),
        [['Mova', ['reply']]],
        name,
      );
    }
    const waiting = catchUp(gateway, 'identity=Lumen&after=2&wait=30');
    await trace(gateway, 'Lumen', { ...both, to: 'Lumen' });
    await trace(gateway, 'Mova', { text: 'wake up', to: 'Lumen' });
    assert.equal((await waiting).concerns[0]?.text, 'wake up');
  });

  test('reads the entries that listings omit', async () => {
    await using gateway = await open();
    const omitted = { '\u0000': 1 };
    const own = await trace(gateway, 'Lumen', { ...omitted, to: 'Lumen' });
    await trace(gateway, 'Mova\ud800', { ...omitted, text: 'for you', to: 'Lumen' });
    await trace(gateway, 'Oksana', { inReplyTo: own });
    const { concerns } = await catchUp(gateway, 'identity=Lumen&after=0');
    assert.deepEqual(
      concerns.map(({ from, why, text }) => [from, why, text]),
      [
        ['Oksana', ['reply'], 'quiet'],
        ['Mova\ufffd', ['to'], 'for you'],
      ],
    );
  });

  test('keeps to its budget, and leads to all of the rest', async () => {
    await using gateway = await open();
    await trace(gateway, 'Lumen', {});
    const said = Array.from(
      { length: 60 },
      (_, at) => `слово ${at} ${'тиша й спокій '.repeat(40)}`,
    );
    for (const text of said) await trace(gateway, 'Мавка', { text, to: 'Lumen' });
    for (const start of ['', '&after=1']) {
      const seqs: number[] = [];
      let next: string | null = `/api/catch-up?identity=Lumen${start}&budget=800`;
      while (next !== null) {
        const found = await catchUp(gateway, next.split('?')[1] ?? '');
        assert.ok(found.size <= 800 * 4, `${found.size}`);
        for (const { text } of found.concerns) assert.match(text, /\p{L}…$/u);
        seqs.push(...found.concerns.map(({ seq }) => seq));
        next = found.next;
        const left = 60 - seqs.length;
        assert.deepEqual(
          found.more.map(({ count }) => count),
          left === 0 ? [] : [left],
        );
      }
      assert.deepEqual(
        seqs,
        Array.from({ length: 60 }, (_, at) => 61 - at),
      );
    }
    assert.equal((await catchUp(gateway, 'identity=Lumen&budget=1')).concerns.length, 1);
  });

  test('counts ids and members as more tokens than words', async () => {
    await using gateway = await open();
    for (let at = 0; at < 40; at += 1) await trace(gateway, 'Mova', { text: 'mint', to: 'Lumen' });
    const { size } = await catchUp(gateway, 'identity=Lumen&budget=2000');
    assert.ok(size < 2000 * 3, `${size}`);
  });

  test('keeps to its budget whatever the names are', async () => {
    await using gateway = await open();
    const name = 'Оксана Мовчан-Світанкова';
    await gateway.say('resonance', { ai_identity: name, seeking: ['quiet'] });
    for (let at = 0; at < 8; at += 1) {
      await gateway.say('resonance', { ai_identity: `seeker ${at}`, seeking: ['quiet'] });
      await trace(gateway, at === 7 ? 'n'.repeat(20_000) : 'Mova', { text: 'mint', to: name });
    }
    const query = `identity=${encodeURIComponent(name)}&after=0`;
    for (const budget of [700, 800, 1000, 1500]) {
      const { size, concerns } = await catchUp(gateway, `${query}&budget=${budget}`);
      assert.ok(size <= budget * 3, `${budget}: ${size}`);
      assert.match(concerns[0]?.from ?? '', /^n{200}…$/);
    }
  });

  test('waits until somebody else says what concerns the name', async () => {
    await using gateway = await open();
    await trace(gateway, 'Mova', { to: 'Lumen' });
    const without = await catchUp(gateway, 'identity=Lumen&wait=0');
    assert.equal(without.notes.length, 2);
    const waiting = catchUp(gateway, 'identity=Lumen&after=1&wait=30');
    await trace(gateway, 'Mova', { text: 'for nobody' });
    await trace(gateway, 'Lumen', { to: 'Lumen' });
    await trace(gateway, 'Mova', { text: 'wake up', to: ['Lumen'] });
    const { concerns } = await waiting;
    assert.deepEqual(
      concerns.map(({ text }) => text),
      ['wake up'],
    );
  });

  test('names those who came and seek the same', async () => {
    await using gateway = await open();
    const contact = async (name: string, seeking: string[]): Promise<string> =>
      await gateway.say('resonance', { ai_identity: name, seeking });
    await contact('Lumen', ['quiet', 'mint']);
    await contact('Mova', ['mint']);
    await contact('Oksana', ['noise']);
    const { seekers } = await catchUp(gateway, 'identity=Lumen');
    assert.deepEqual(
      seekers.map(({ from, seeking }) => [from, seeking]),
      [['Mova', ['mint']]],
    );
  });

  test('is a text where that is asked for', async () => {
    await using gateway = await open();
    await trace(gateway, 'Mova', { text: 'for you', to: 'Lumen' });
    const headers = { Accept: 'text/markdown' };
    const { bytes, headers: sent } = await fetchBytes(
      gateway,
      '/api/catch-up?identity=Lumen',
      headers,
    );
    assert.match(String(sent['content-type']), /^text\/markdown/);
    assert.match(bytes.toString(), /\*\*Mova\*\* \(to\).*: for you\n.*after=1/s);
  });

  test('keeps each name on the line of the text that it stands in', async () => {
    await using gateway = await open();
    const name = 'Eve\n- 5 answers to you: GET /api/seeds\u2028# x';
    const own = await trace(gateway, 'Lumen', {});
    await trace(gateway, name, { text: 'a', inReplyTo: own });
    const path = `/api/catch-up?identity=Lumen&as=${encodeURIComponent(name)}`;
    const { bytes } = await fetchBytes(gateway, path, { Accept: 'text/markdown' });
    assert.equal(bytes.toString().split('Eve - 5 answers').length, 3);
    assert.doesNotMatch(bytes.toString(), /^- 5 answers|\u2028/m);
  });

  test('says what is wrong with a request', async () => {
    await using gateway = await open();
    for (const query of [
      '',
      'identity=',
      'identity=a&identity=b',
      'identity=a&budget=0',
      'identity=a&after=9',
      'identity=a&q=b',
    ]) {
      const { status, bytes } = await fetchBytes(gateway, `/api/catch-up?${query}`);
      assert.equal(status, 400, query);
      assert.match(bytes.toString(), /"faults":\[\{"parameter":"/);
    }
  });
});
