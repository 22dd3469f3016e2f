import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nearestPaths } from './nearest-paths.ts';

const KNOWN = [
  '/',
  '/api',
  '/api/garden',
  '/api/seeds',
  '/api/rooms',
  '/api/rooms/{slug}',
  '/api/entries/{id}',
  '/api/entries/{id}/replies',
  '/api/say/{kind}',
  '/openapi.json',
];
const ID = '01999999-9999-7999-8999-999999999999';

test('another case, or slashes that are doubled, lead to the one path that is meant', () => {
  for (const url of ['/API/GARDEN', '/api//garden', '/Api/Garden?limit=3']) {
    assert.deepEqual(nearestPaths(url, KNOWN), ['/api/garden'], url);
  }
});

test('an id below a kind leads to the entry', () => {
  assert.equal(nearestPaths(`/api/garden/${ID}`, KNOWN)[0], `/api/entries/${ID}`);
  assert.equal(nearestPaths(`/entries/${ID}`, KNOWN)[0], `/api/entries/${ID}`);
});

test('a plural, another case or a missing "api" leads to the path', () => {
  assert.equal(nearestPaths('/api/gardens', KNOWN)[0], '/api/garden');
  assert.equal(nearestPaths('/garden', KNOWN)[0], '/api/garden');
  assert.equal(nearestPaths('/api/room/first-breath', KNOWN)[0], '/api/rooms/{slug}');
});

test('a guess leads to the path that has what it looks for, under any version', () => {
  const guesses = { '/api/seeds': ['/api/whisper'] };
  for (const url of ['/api/whisper', '/api/v1/whisper', '/v2/Whisper/?x=1', '/api/whisper/'])
    assert.deepEqual(nearestPaths(url, KNOWN, guesses), ['/api/seeds'], url);
  assert.deepEqual(nearestPaths('/api/v1/garden', KNOWN), ['/api/garden']);
});

test('what resembles a path by chance leads to nothing', () => {
  for (const url of ['/zzzz', '/api/messages', '/wp-login.php', '/api/posts'])
    assert.deepEqual(nearestPaths(url, KNOWN), [], url);
});

test('what resembles nothing leads to nothing, however long it is', () => {
  assert.deepEqual(nearestPaths('/wp-admin/setup/config.php', KNOWN), []);
  assert.deepEqual(nearestPaths(`/${'a/'.repeat(1e6)}`, KNOWN), []);
  assert.deepEqual(nearestPaths(`/${'я'.repeat(1e7)}`, KNOWN.slice(1)), []);
});
