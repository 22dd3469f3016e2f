import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite, test } from 'node:test';

import { parseLanguage } from '@open-presence/protocol/language-file';

import { exampleEntry } from '../openapi-parts.ts';

const LANGUAGE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));

suite('what the OpenAPI document shows', () => {
  test('is in a room of the language, whichever rooms that has', async () => {
    const packaged = parseLanguage((await readFile(LANGUAGE)).toString(), 'mova-snu.yaml');
    const garden = { ...packaged.kinds.garden, room: 'plaza' };
    const language = { ...packaged, kinds: { ...packaged.kinds, garden } };
    const { room, kind } = exampleEntry(language);
    assert.deepEqual([room, kind], ['plaza', 'garden']);
  });
});
