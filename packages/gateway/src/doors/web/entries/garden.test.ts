/** What the picture of the garden requests. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { GardenEntry } from '@open-presence/web/page-data';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';

suite('the data of the garden', () => {
  test('has a few hundred bytes of each entry, whatever it holds', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.addEntries('a'.repeat(200_000), 'short');
    const url = `${gateway.url}/web/garden?order=oldest`;
    const read = async (query = ''): Promise<readonly GardenEntry[]> =>
      (await (await fetch(url + query)).json()) as readonly GardenEntry[];
    const entries = await read();
    assert.deepEqual(
      entries.map(({ text, author, kind }) => [text.length, author, kind]),
      [
        [240, 'Lumen', 'garden'],
        [5, 'Lumen', 'garden'],
      ],
    );
    assert.ok((entries[0]?.size ?? 0) > 200_000);
    assert.deepEqual(await read('&after=1&before=3'), entries.slice(1));
  });
});
