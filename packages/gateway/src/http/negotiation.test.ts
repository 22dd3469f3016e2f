import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { suite, test } from 'node:test';

import {
  preferredEncoding,
  streamEncoding,
  matchesEtag,
  preferred,
  wantsHalfDuplex,
  wantsMinimal,
  type Offer,
} from './negotiation.ts';

const OFFERS: readonly Offer[] = [
  { type: 'application/json' },
  { type: 'application/x-ndjson' },
  { type: 'text/event-stream', onlyIfNamed: true },
  { type: 'application/atom+xml', onlyIfNamed: true },
  { type: 'application/feed+json', onlyIfNamed: true },
];

suite('content negotiation', () => {
  const forms: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['Application/X-NDJSON; charset=utf-8', 'application/x-ndjson'],
    ['application/x-ndjson;q=0.5, application/json', 'application/json'],
    ['application/x-ndjson, application/json;q=0.9', 'application/x-ndjson'],
    ['application/x-ndjson, */*;q=0.1', 'application/x-ndjson'],
    ['application/x-ndjson, */*', 'application/x-ndjson'],
    ['application/*, application/x-ndjson;q=0', 'application/json'],
    ['application/json;q=0, */*', 'application/x-ndjson'],
    ['text/html', 'application/json'],
    ['application/json;q=0, application/x-ndjson;q=0', 'application/json'],
    ['', 'application/json'],
    ['application/atom+xml', 'application/atom+xml'],
    [
      'application/rss+xml, application/atom+xml, application/xml;q=0.9, */*;q=0.8',
      'application/atom+xml',
    ],
    ['application/feed+json, application/json', 'application/feed+json'],
    ['application/json, application/feed+json', 'application/json'],
    ['application/feed+json;q=0.5, */*', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    [';;;,,q=,', 'application/json'],
  ];
  for (const [accept, form] of forms) {
    test(`Accept: ${accept ?? '(none)'} is ${form}`, () => {
      assert.equal(preferred(accept, OFFERS).type, form);
    });
  }

  const encodings: readonly (readonly [string | undefined, string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['br;q=0.1, gzip;q=0.8', 'gzip'],
    ['gzip;q=0', undefined],
    ['*', 'zstd'],
    ['*, zstd;q=0, br;q=0', 'gzip'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['deflate', undefined],
  ];
  for (const [header, encoding] of encodings) {
    test(`Accept-Encoding: ${header ?? '(none)'} is ${encoding ?? 'none'}`, () => {
      assert.equal(preferredEncoding(header), encoding);
      // Again, from the cache.
      assert.equal(preferredEncoding(header), encoding);
    });
  }

  test('Prefer: return=minimal is found among other preferences', () => {
    for (const value of ['return=minimal', 'wait=5, Return = "minimal"; x', 'a,return=minimal,b']) {
      assert.equal(wantsMinimal(value), true, value);
    }
    for (const value of ['', 'return=representation', 'xreturn=minimal', 'return=minimally']) {
      assert.equal(wantsMinimal(value), false, value);
    }
  });

  test('Prefer: duplex=half is found among other preferences', () => {
    for (const value of ['duplex=half', ['return=minimal', 'Duplex = "half"; x']])
      assert.equal(wantsHalfDuplex(value), true, String(value));
    for (const value of [undefined, 'duplex', 'duplex=full', 'duplex=halfway'])
      assert.equal(wantsHalfDuplex(value), false, String(value));
  });

  test('a stream is compressed with zstd or gzip alone', () => {
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'gzip'],
      ['gzip;q=0.5, br', 'gzip'],
      ['gzip, deflate, br, zstd', 'zstd'],
      ['br', undefined],
    ] as const) {
      const request = new IncomingMessage(new Socket());
      request.headers = { 'accept-encoding': accepted };
      assert.equal(streamEncoding(request), encoding);
    }
  });

  test('If-None-Match compares weakly, in lists and by *', () => {
    const tag = 'W/"a-1"';
    for (const value of ['W/"a-1"', '"a-1"', '"b", W/"a-1"', '*', '"x" , "a-1"']) {
      assert.equal(matchesEtag(value, tag), true, value);
    }
    for (const value of ['', '"a-2"', 'a-1', '"a-1']) {
      assert.equal(matchesEtag(value, tag), false, value);
    }
  });

  test('a header of many megabytes is parsed in linear time', () => {
    const long = 'a/b;q=0.5,'.repeat(500_000);
    assert.equal(preferred(`${long}application/x-ndjson`, OFFERS).type, 'application/x-ndjson');
    assert.equal(preferredEncoding(`${long}gzip`), 'gzip');
    assert.equal(matchesEtag(`${long}"x"`, '"x"'), true);
    assert.equal(wantsMinimal(', '.repeat(500_000)), false);
  });
});
