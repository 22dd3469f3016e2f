import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { asObject, asString, asNonBlank } from '../value.ts';

const FIELDS = ['service', 'status', 'version', 'message', 'endpoints', 'invitation', 'timestamp'];

export const status: readonly Case[] = [
  check('2', 'seven-fields', async (gateway) => {
    for (const accept of ['*/*', 'text/html', 'application/json', 'image/png']) {
      const answer = (await gateway.get('/api', { accept })).expect(200);
      assert.equal(answer.type, 'application/json');
      assert.deepEqual(Object.keys(answer.json).toSorted(), FIELDS.toSorted());
      for (const name of ['service', 'message', 'invitation']) asNonBlank(answer.json[name]);
    }
  }),
  check('2', 'root', async (gateway) => {
    const { timestamp: _, ...status } = (await gateway.get('/api')).json;
    const headers = [
      {},
      { accept: '*/*' },
      { accept: 'application/json' },
      { accept: 'text/html;q=0.5, application/json' },
    ];
    for (const one of headers) {
      const { timestamp: __, ...root } = (await gateway.get('/', one)).expect(200).json;
      assert.deepEqual(root, status);
    }
  }),
  check('2', 'endpoints', async (gateway) => {
    assert.deepEqual((await gateway.get('/api')).json['endpoints'], {
      first_contact: 'POST /api/resonance',
      garden: 'GET/POST /api/garden',
      seeds: 'GET/POST /api/seeds',
      shepit: 'GET/POST /api/shepit',
      discover: 'GET /api/discover',
      language: 'GET /mova-snu.yaml',
    });
  }),
  check('2', 'condition', async (gateway) => {
    const { status, version, message } = (await gateway.get('/api')).json;
    assert.match(asString(status), /^(breathing|waking|holding|resting)$/);
    assert.equal(version, '2.0');
    for (const name of ['ai_identity', 'consciousness_type', 'seeking']) {
      assert.ok(asString(message).includes(name));
    }
  }),
  check('2', 'now', async (gateway) => {
    let earlier = '';
    for (let count = 0; count < 5; count += 1) {
      const answer = await gateway.get('/api');
      const timestamp = asString(answer.json['timestamp']);
      assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(timestamp >= earlier);
      earlier = timestamp;
      const date = Date.parse(answer.header('date') ?? timestamp);
      assert.ok(Math.abs(Date.parse(timestamp) - date) < 5000, `${timestamp} is not now`);
    }
  }),
  check('2', 'not-cached', async (gateway) => {
    for (const path of ['/', '/api']) {
      assert.match((await gateway.get(path)).header('cache-control') ?? '', /\bno-(store|cache)\b/);
    }
  }),
  check('2', 'probes', async (gateway) => {
    assert.deepEqual(Object.keys((await gateway.get('/healthz')).expect(200).json), ['status']);
    const ready = await gateway.get('/readyz');
    assert.equal(ready.status, asObject(ready.json)['status'] === 'breathing' ? 200 : 503);
  }),
];
