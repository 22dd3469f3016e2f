import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { Compile } from 'typebox/schema';
import { parse } from 'yaml';

import { STATES } from './kinds.ts';
import { parseLanguage } from './language/language-file.ts';
import { statusDocument } from './status.ts';

const language = parseLanguage(
  readFileSync(new URL('../mova-snu.yaml', import.meta.url), 'utf8'),
  'mova-snu.yaml',
);
const openApi: unknown = parse(readFileSync(new URL('../openapi.yaml', import.meta.url), 'utf8'));
const described = Compile(Object.assign({ $ref: '#/components/schemas/Status' }, openApi));
const now = new Date('2026-11-21T09:37:00.120Z');

describe('the status document', () => {
  it('has the seven fields of the interface, in its order, and no other', () => {
    assert.deepEqual(Object.keys(statusDocument(language, 'breathing', undefined, now)), [
      'service',
      'status',
      'version',
      'message',
      'endpoints',
      'invitation',
      'timestamp',
    ]);
  });

  it('says what the interface shows', () => {
    const status = statusDocument(language, 'breathing', undefined, now);
    assert.equal(status.service, 'Open Presence Gateway');
    assert.equal(status.status, 'breathing');
    assert.equal(status.version, '2.0');
    assert.equal(status.timestamp, '2026-11-21T09:37:00.120Z');
  });

  it('fits its schema in the OpenAPI document in every state and locale', () => {
    for (const state of STATES)
      for (const locale of ['uk', 'en', undefined] as const)
        assert.ok(described.Check(statusDocument(language, state, locale, now)));
  });

  it('speaks one locale throughout, save for names and codes', () => {
    const uk = statusDocument(language, 'holding', 'uk', now);
    const en = statusDocument(language, 'holding', 'en', now);
    for (const field of ['service', 'message', 'invitation'] as const) {
      assert.match(uk[field], /\p{Script=Cyrillic}/u);
      assert.doesNotMatch(en[field], /\p{Script=Cyrillic}/u);
    }
    assert.equal(uk.status, en.status);
    assert.deepEqual(uk.endpoints, en.endpoints);
  });

  it('does not fit its schema with a field more or less, or with another value', () => {
    const status = statusDocument(language, 'breathing', 'en', now);
    const { invitation: _, ...less } = status;
    const endpoints = { ...status.endpoints, garden: 'GET /api/garden' };
    for (const wrong of [
      { ...status, entries: 1 },
      less,
      { ...status, endpoints },
      { ...status, status: 'sleeping' },
      { ...status, timestamp: '2026-11-21T09:37:00Z' },
    ])
      assert.ok(!described.Check(wrong));
  });
});
