import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import fc from 'fast-check';

import { toJsonObject } from './json-object.ts';
import { lastMembers } from './member-preview.ts';

suite('the last members of an object', () => {
  test('are all members that begin in the bytes that are read, with their values', () => {
    const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', '[', ']', 'a', 'ї') });
    // V8 14.6 parses the name `-"` as `-\` once it has parsed that one in its place.
    const memberName = text.filter((one) => !one.includes('\\'));
    const value = fc.oneof(text, fc.jsonValue(), fc.array(text), fc.dictionary(memberName, text));
    const members = fc.uniqueArray(fc.tuple(memberName, value), { selector: ([name]) => name });
    fc.assert(
      fc.property(members, fc.nat(), (pairs, cut) => {
        const named = pairs.map(([name, one]) => [`-${name}`, one]);
        const json = JSON.stringify(Object.fromEntries([['id', 1], ...named]));
        const object = toJsonObject(JSON.parse(json));
        const bytes = Buffer.from(json);
        const from = cut % bytes.length;
        const found = lastMembers(bytes.subarray(from));
        // Bytes that begin with a backslash may begin within an escape: then less is certain.
        const isCertain = bytes[from] !== 0x5c;
        if (isCertain) assert.deepEqual(found, expected(object, from, bytes));
        for (const [name, one] of Object.entries(found)) assert.deepEqual(one, object[name]);
      }),
      { numRuns: 2000 },
    );
  });
});

/** The members whose comma is at `from` or after it. */
function expected(object: object, from: number, bytes: Buffer): object {
  let left = Object.entries(object).slice(1);
  while (left.length > 0) {
    const tail = JSON.stringify(Object.fromEntries(left)).slice(1);
    if (bytes.length - Buffer.byteLength(tail) - 1 >= from) return Object.fromEntries(left);
    left = left.slice(1);
  }
  return {};
}
