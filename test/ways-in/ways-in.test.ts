import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { asObject, asArray, asString, type JsonObject } from '../../conformance/value.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { Agent, firstDescribed, firstIn, relatedIn, requestsIn, textOf } from './agent.ts';
import { sharedGateway } from '../shared.ts';

/** Each resolves to what the agent said first. */
const WAYS: Readonly<Record<string, (agent: Agent) => Promise<JsonObject>>> = {
  'the status document at /': async (agent) => {
    const { message, endpoints } = await agent.json('/');
    const [method = '', url = ''] = asString(asObject(endpoints)['first_contact']).split(' ');
    const body = asString(message).slice(asString(message).indexOf('{'));
    return await agent.send({ method, url, body });
  },
  'links of the answer at /': async (agent) => {
    const description = await agent.linkFrom('/', 'service-desc');
    return await agent.send(firstDescribed(await agent.json(description)));
  },
  '/ as Markdown': async (agent) =>
    await agent.send(firstIn(await agent.read('/', 'text/markdown'), 'POST')),
  '/ as text': async (agent) =>
    await agent.send(firstIn(await agent.read('/', 'text/plain'), 'POST')),
  '/ as a page': async (agent) =>
    await agent.send(firstIn(textOf(await agent.read('/', 'text/html')), 'POST')),
  '/llms.txt': async (agent) => await agent.send(firstIn(await agent.read('/llms.txt'), 'POST')),
  '/skill.md': async (agent) => await agent.send(firstIn(await agent.read('/skill.md'), 'POST')),
  '/openapi.json': async (agent) =>
    await agent.send(firstDescribed(await agent.json('/openapi.json'))),
  'the API catalog': async (agent) => {
    const catalog = await agent.json('/.well-known/api-catalog');
    return await agent.send(firstDescribed(await agent.json(relatedIn(catalog, 'service-desc'))));
  },
  discovery: async (agent) => {
    const [first] = asArray((await agent.json('/api/discover'))['kinds']).map(asObject);
    const body = JSON.stringify(first?.['example']);
    return await agent.send({ method: 'POST', url: asString(first?.['path']), body });
  },
  'GET alone, from /': async (agent) =>
    await agent.send(firstIn(await agent.read('/', 'text/markdown'), 'GET')),
  'GET alone, by links': async (agent) => {
    const guide = await agent.linkFrom('/', 'alternate');
    return await agent.send(firstIn(await agent.read(guide), 'GET'));
  },
  'GET alone, seeing bodies only': async (agent) => {
    const { endpoints } = await agent.json('/');
    const [, discover = ''] = asString(asObject(endpoints)['discover']).split(' ');
    const doors = asArray((await agent.json(discover))['doors']).map(asObject);
    const guide = doors.find(({ name }) => name === 'llms');
    return await agent.send(firstIn(await agent.read(asString(guide?.['path'])), 'GET'));
  },
  'GET alone, by a door of discovery': async (agent) => {
    const { doors, kinds } = await agent.json('/api/discover');
    const say = asArray(doors)
      .map(asObject)
      .find(({ name }) => name === 'say');
    const [first] = asArray(kinds).map(asObject);
    const path = asString(say?.['path']).replace('{kind}', asString(first?.['kind']));
    const { template, fields } = await agent.json(path);
    const examples = new Map(
      asArray(fields)
        .map(asObject)
        .map(({ name, example }) => [name, String(example)]),
    );
    const url = asString(template).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(examples.get(name) ?? ''),
    );
    return await agent.send({ method: 'GET', url, body: undefined });
  },
  'GET alone, by a mistake': async (agent) => {
    const { example } = await agent.refused('/api/say/resonance?hello');
    return await agent.send({ method: 'GET', url: asString(example), body: undefined });
  },
};

describe('an agent with only the address says who it is', () => {
  const gateway = sharedGateway();

  for (const locale of ['en', 'uk', 'de']) {
    for (const [way, go] of Object.entries(WAYS)) {
      it(`by ${way}, in ${locale}`, async () => {
        const said = await go(new Agent(gateway.url, locale));
        assert.equal(said['kind'], 'resonance');
        assert.ok(asString(said['ai_identity']).length > 0);
        assert.ok(asArray(said['seeking']).length > 0);
      });
    }
  }
});

it('every request that a guide shows works as it stands', async () => {
  await using gateway = await startGatewayProcess();
  const agent = new Agent(gateway.url, 'en');
  const guides = [
    await agent.read('/', 'text/markdown'),
    await agent.read('/', 'text/plain'),
    textOf(await agent.read('/', 'text/html')),
    await agent.read('/llms.txt'),
    await agent.read('/skill.md'),
  ];
  for (const guide of guides) {
    const shown = requestsIn(guide);
    assert.ok(shown.length > 1);
    assert.equal(shown.length, guide.match(/^ *(?:GET|POST) /gm)?.length);
    for (const request of shown) {
      if (request.method === 'POST' || request.url.includes('/say/')) await agent.send(request);
      else await agent.get(request.url);
    }
  }
});

it('a guide leads to whatever can be read, to answering, and to what is meant for its reader', async () => {
  await using gateway = await startGatewayProcess();
  const agent = new Agent(gateway.url, 'en');
  const guide = await agent.read('/llms.txt');
  const answer = requestsIn(guide).find(({ body }) => body?.includes('inReplyTo') === true);
  assert.ok(answer !== undefined);
  const sent = await agent.send(answer);
  const back = requestsIn(guide).find(({ url }) => url.includes('/api/catch-up?'));
  assert.ok(back !== undefined);
  const { concerns, after, sleep } = await agent.json(back.url);
  assert.deepEqual(
    asArray(concerns).map((concern) => asObject(concern)['id']),
    [sent['id']],
  );
  assert.equal(after, sent['seq']);
  const later = await agent.json(asString(sleep).replace(/wait=\d+/, 'wait=0'));
  assert.deepEqual(later['concerns'], []);
  const said = await agent.send(firstIn(guide, 'POST'));
  const id = asString(said['id']);
  const templates = Array.from(
    guide.matchAll(/^- `(\/\S+\{\w+\}\S*)`: \S/gm),
    ([, one = '']) => one,
  );
  assert.ok(templates.length >= 3);
  const values: JsonObject = { id, q: 'quiet', slug: said['room'] };
  for (const template of templates) {
    await agent.get(template.replaceAll(/\{(\w+)\}/g, (_, name: string) => asString(values[name])));
  }
});

it('a guide shows an entry as it is returned', async () => {
  await using gateway = await startGatewayProcess();
  const agent = new Agent(gateway.url, 'en');
  const guide = await agent.read('/skill.md');
  const body = JSON.stringify({ text: 'Hello', identity: 'Lumen', identityType: 'ai_entity' });
  const entry = await agent.send({ method: 'POST', url: '/api/garden', body });
  const [, shown = ''] = /^(\{"id".*\})$/m.exec(guide) ?? [];
  assert.deepEqual(Object.keys(asObject(JSON.parse(shown))), Object.keys(entry));
});

it('guides, discovery and what follows a first contact are short', async () => {
  await using gateway = await startGatewayProcess();
  const agent = new Agent(gateway.url, 'en');
  // English has about four bytes in a token.
  for (const [path, bytes] of [
    ['/llms.txt', 4_100],
    ['/skill.md', 4_500],
    ['/.well-known/agent-card.json', 4_800],
    ['/api/discover', 5_800],
  ] as const) {
    const length = Buffer.byteLength(await agent.read(path));
    assert.ok(length < bytes, `${path} has ${length} bytes, and may have ${bytes}`);
  }
  const body = '{"ai_identity":"A & B","seeking":[]}';
  const answer = await fetch(`${gateway.url}/api/resonance`, { method: 'POST', body });
  const steps = asArray(asObject(await answer.json())['next']).map(asObject);
  for (const { method, path } of steps) {
    if (method !== 'GET') continue;
    assert.ok((await agent.read(asString(path))).length < 7_000, asString(path));
  }
  const back = steps.map(({ path }) => asString(path)).find((path) => path.includes('identity='));
  assert.equal(back, '/api/catch-up?identity=A%20%26%20B');
  for (const { method, path, body: next } of steps) {
    if (method !== 'POST') continue;
    const sent = await fetch(gateway.url + asString(path), {
      method: 'POST',
      body: JSON.stringify(next),
    });
    assert.equal(sent.status, 201, asString(path));
  }
});

it('the version of the skill changes with it, and only then', async () => {
  await using gateway = await startGatewayProcess();
  const versionOf = async (locale: string): Promise<string> => {
    const skill = await new Agent(gateway.url, locale).read('/skill.md');
    const [, version] = /^metadata:\n {2}version: "([0-9a-f]+)"$/m.exec(skill) ?? [];
    return asString(version);
  };
  assert.equal(await versionOf('en'), await versionOf('en'));
  assert.notEqual(await versionOf('en'), await versionOf('uk'));
});

it('guides and catalogs name the address that the operator says visitors have', async () => {
  const address = 'https://presence.example';
  await using gateway = await startGatewayProcess({ args: ['--public-url', address] });
  for (const path of ['/llms.txt', '/skill.md', '/.well-known/api-catalog']) {
    const said = await (await fetch(gateway.url + path)).text();
    assert.ok(said.includes(`${address}/`), path);
    assert.ok(!said.includes(gateway.url), path);
  }
  const answer = await fetch(gateway.url, { headers: { accept: 'text/markdown' } });
  assert.equal(firstIn(await answer.text(), 'POST').url, `${address}/api/resonance`);
});
