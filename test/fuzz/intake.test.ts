/** Random and hostile bodies: accepted as by JSON.parse, with the same outcome however they are cut. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

import { FILTER_NAMES, GatewayError, KINDS, type Kind } from '@open-presence/protocol';
import fc from 'fast-check';

import { anyCharacter } from '../../packages/gateway/src/json/characters.fixture.ts';
import { LargeBodyReader, parseDraft } from '../../packages/gateway/src/intake/draft.ts';
import { ArraySpool, grammar } from '../../packages/gateway/src/intake/intake.fixture.ts';
import { StoredGrammar } from '../../packages/gateway/src/intake/stored-grammar.ts';
import { expected } from './naive-intake.ts';

interface Outcome {
  readonly room?: string;
  readonly body?: string;
  readonly facets?: readonly string[];
  readonly code?: string;
  readonly message?: string;
  readonly extensions?: unknown;
}

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 300);

function facetsIn(bytes: Uint8Array): string[] {
  return Buffer.from(bytes).toString('hex').match(/.{32}/g) ?? [];
}

function refused(error: unknown): Outcome {
  assert.ok(error instanceof GatewayError, `threw ${String(error)}`);
  const { code, message, extensions } = error;
  return { code, message, extensions };
}

/** What was stored is read again as the same bytes and facets, under whatever rules. */
function assertReadAgain(kind: Kind, { room = '', body = '', facets }: Outcome): void {
  const stored = new StoredGrammar(grammar).for(kind, room);
  const again = parseDraft(kind, Buffer.from(`{${body}}`), stored);
  assert.ok(again.body instanceof Uint8Array);
  assert.equal(Buffer.from(again.body).toString(), body);
  assert.deepEqual([again.room, facetsIn(again.facets)], [room, facets]);
}

function atOnce(kind: Kind, bytes: Uint8Array): Outcome {
  try {
    const { room, body, facets } = parseDraft(kind, Uint8Array.from(bytes), grammar);
    assert.ok(body instanceof Uint8Array);
    return { room, body: Buffer.from(body).toString(), facets: facetsIn(facets) };
  } catch (error) {
    return refused(error);
  }
}

async function inPieces(kind: Kind, bytes: Uint8Array, cuts: Iterable<number>): Promise<Outcome> {
  const spool = new ArraySpool();
  const large = new LargeBodyReader(grammar, kind, spool);
  try {
    let from = 0;
    for (const size of cuts) {
      if (from >= bytes.length) break;
      await large.feed(bytes.subarray(from, from + size));
      from += size;
    }
    if (from < bytes.length) await large.feed(bytes.subarray(from));
    const { room, facets } = await large.finish(undefined);
    return { room, body: spool.text, facets: facetsIn(facets) };
  } catch (error) {
    return refused(error);
  }
}

const name = fc.oneof(
  fc.constantFrom(
    'id',
    'seq',
    'kind',
    'room',
    'timestamp',
    'withheld',
    'notes',
    'visitor_id',
    '__proto__',
    '0',
    '7',
  ),
  fc.constantFrom('ai_identity', ...FILTER_NAMES),
  fc.constantFrom('text', 'consciousness_type', 'constructor', '', 'toString'),
  fc.string({ unit: anyCharacter(), maxLength: 6 }),
  fc.string({ minLength: 17, maxLength: 22 }),
);
const scripts = fc.constantFrom('Тихо', 'שלום', '静か', '𓂀𝄞', 'مرحبا', '\u2028', '﻿', 'नमस्ते');
const content = fc.oneof(
  fc.string({ unit: anyCharacter(), maxLength: 8 }),
  scripts,
  fc.constantFrom('first-breath', 'resonance-hall', 'nowhere', '', 'a'.repeat(60)),
);

/** A JSON string in which any character may be escaped. */
const spelled = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.array(fc.nat(9), { minLength: 1 })).map(([characters, choices]) => {
    const units = characters.split('').map((unit, index) => {
      const code = unit.charCodeAt(0);
      const choice = choices[index % choices.length];
      const hex = code.toString(16).padStart(4, '0');
      const alone = code >= 0xd800 && code <= 0xdfff;
      if (choice === 0 || alone) return `\\u${choice === 0 ? hex.toUpperCase() : hex}`;
      return JSON.stringify(unit).slice(1, -1);
    });
    return `"${units.join('')}"`;
  });
const surrogates = fc.constantFrom(
  '"\\ud800"',
  '"\\udc00\\ud83d\\ude00"',
  '"\\ud83dx"',
  '"\\ud83d\\n"',
);
const string = fc.oneof({ weight: 5, arbitrary: spelled(content) }, surrogates);
const number = fc.constantFrom(
  '0',
  '-0',
  '1e400',
  '-1.5E+3',
  '123456789012345678901234567890',
  '1e-9',
);
const scalar = fc.oneof(string, number, fc.constantFrom('true', 'false', 'null'));
const gap = fc.constantFrom('', '', '', ' ', '\n', '\r\n  ', '\t', '   ');

const value = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    tie('array'),
    tie('object'),
  ),
  array: fc
    .array(fc.tuple(gap, tie('value'), gap), { maxLength: 4 })
    .map((all) => `[${all.map((each) => each.join('')).join(',') || ' '}]`),
  object: fc
    .array(fc.tuple(gap, spelled(name), gap, tie('value'), gap), { maxLength: 7 })
    .map((all) => {
      const members = all.map(([a, key, b, each, c]) => `${a}${key}${b}:${b}${each}${c}`);
      return `{${members.join(',') || ' '}}`;
    }),
}));

/** Objects with the required members, so that many of them become drafts. */
const fitting = fc
  .tuple(value.object, fc.array(string, { maxLength: 3 }), fc.boolean(), gap)
  .map(([object, words, last, space]) => {
    const required = `"text":${words[0] ?? '""'},"identity":"a","identityType":"b",${space}"ai_identity":"c","seeking":[${words.join(',')}]`;
    const inner = object.slice(1, -1);
    if (inner.trim() === '') return `{${required}}`;
    return last ? `{${inner},${required}}` : `{${required},${space}${inner}}`;
  });

const text = fc
  .tuple(
    fc.constantFrom('', '', '', '\uFEFF', ' \r\n'),
    fc.oneof(value.object, value.value, fitting, fc.json()),
    gap,
  )
  .map((parts) => parts.join(''));
const kind = fc.constantFrom(...KINDS);
const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 });

const mutated = fc
  .tuple(
    text,
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat(2),
        fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\\'0.eE+-tu\n'))),
      ),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  )
  .map(([source, changes]) => {
    let bytes = Buffer.from(source);
    for (const [place, way, byte] of changes) {
      const at = place % (bytes.length + 1);
      const keep = way === 0 ? at : at + 1;
      const put = way === 2 ? [] : [byte];
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(keep)]);
    }
    return bytes;
  });

/**
 * A test that runs in a thread of its own: `node:test` observes every promise of its thread, which
 * costs more than all else where each byte is awaited.
 */
function testInThread(name: string, run: () => Promise<void>): void {
  if (!isMainThread) {
    if (workerData === name) void run();
    return;
  }
  test(name, async () => {
    const thread = new Worker(import.meta.filename, { workerData: name });
    assert.deepEqual(await once(thread, 'exit'), [0]);
  });
}

testInThread(
  'any JSON has the outcome that a naive reading of the rules gives it, however it is cut',
  async () => {
    await fc.assert(
      fc.asyncProperty(kind, text, cuts, async (kind, text, cuts) => {
        const bytes = Buffer.from(text);
        const whole = atOnce(kind, bytes);
        assert.deepEqual(await inPieces(kind, bytes, cuts), whole);
        assert.deepEqual(await inPieces(kind, bytes, Array(bytes.length).fill(1)), whole);
        if (whole.body !== undefined) assertReadAgain(kind, whole);
        const naive = expected(kind, bytes, grammar);
        assert.equal(whole.code, naive.code);
        assert.deepEqual(
          (whole.extensions as { faults?: { pointer?: string }[] } | undefined)?.faults?.map(
            (fault) => fault.pointer,
          ),
          naive.pointers,
        );
        assert.equal(whole.room, naive.room);
        assert.equal(whole.body, naive.body);
        assert.deepEqual(whole.facets, naive.facets);
      }),
      { numRuns: RUNS },
    );
  },
);

testInThread(
  'bytes are accepted as JSON exactly if a strict decoder and JSON.parse accept them',
  async () => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const anything = fc.oneof(mutated, mutated, fc.uint8Array({ maxLength: 12 }));
    await fc.assert(
      fc.asyncProperty(kind, anything, cuts, async (kind, bytes, cuts) => {
        let json = true;
        try {
          JSON.parse(decoder.decode(bytes));
        } catch {
          json = false;
        }
        const whole = atOnce(kind, bytes);
        assert.equal(whole.code !== 'malformed-json', json, String(whole.message));
        assert.deepEqual(await inPieces(kind, bytes, cuts), whole);
        assert.deepEqual(await inPieces(kind, bytes, Array(bytes.length).fill(1)), whole);
      }),
      { numRuns: RUNS * 2 },
    );
  },
);

testInThread(
  'invalid UTF-8 is refused at the first byte of the sequence that does not fit',
  async () => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 6, min: 0x80 }),
      fc.constantFrom(
        ...['c080', 'e08080', 'eda080', 'f0808080', 'f4908080', 'f8', 'e2', 'f09f98'].map(
          (hex) => new Uint8Array(Buffer.from(hex, 'hex')),
        ),
      ),
    );
    fc.assert(
      fc.property(scripts, bytes, (before, bytes) => {
        const start = Buffer.from(`{"a":"${before}`);
        const body = Buffer.concat([start, bytes, Buffer.from('"}')]);
        let first = start.length;
        for (let length = 1; first < body.length;) {
          const piece = body.subarray(first, first + length);
          try {
            decoder.decode(piece);
            first += length;
            length = 1;
          } catch {
            if (length === 4) break;
            length++;
          }
        }
        const { code, extensions } = atOnce('seeds', body);
        if (first === body.length) {
          assert.equal(code, undefined);
          return;
        }
        assert.equal((extensions as { position: { offset: number } }).position.offset, first);
      }),
      { numRuns: RUNS },
    );
  },
);

const hostile: Record<string, string> = {
  'a million levels': `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`,
  'a million levels of two sorts': `{"a":${'[{"":'.repeat(5e5)}0${'}]'.repeat(5e5)}}`,
  'a hundred thousand names to seek': JSON.stringify({
    ai_identity: 'a',
    seeking: Array.from({ length: 1e5 }, (_, index) => `word ${index % 5000}`),
    text: '',
    identity: '',
    identityType: '',
  }),
  'a long number': `{"a":${'9'.repeat(1e6)}.${'0'.repeat(1e5)}e-999999}`,
  'a name as long as a book': `{"${'n'.repeat(1e6)}":1}`,
  'a name of a million escapes': `{"${'\\u0069'.repeat(1e6)}":1,"\\u0069d":2}`,
  'a million spaces': `{${' '.repeat(1e6)}"a"${' \n'.repeat(1e5)}:1${' '.repeat(1e6)},"id":2${' '.repeat(1e6)}}`,
  'a room that is not known, a million letters long': `{"room":"${'x'.repeat(1e6)}"}`,
  'levels that do not close': '['.repeat(1e6),
};
for (const [what, source] of isMainThread ? Object.entries(hostile) : []) {
  test(`${what}: the outcome is the same at once and in pieces`, async () => {
    const bytes = Buffer.from(source);
    for (const kind of KINDS) {
      const whole = atOnce(kind, bytes);
      const pieces = await inPieces(kind, bytes, Array(1e4).fill(1009));
      const held = whole.facets?.slice(0, pieces.facets?.length);
      assert.deepEqual(pieces, { ...whole, ...(held === undefined ? {} : { facets: held }) });
    }
  });
}
