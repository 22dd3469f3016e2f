import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { hasPages } from '../web.ts';

suite('addresses in a text', { skip: hasPages() ? false : 'the pages are not built' }, () => {
  test('lead where they say, without the end of the sentence', async () => {
    await using gateway = await openGateway(openMemoryLog());
    for (const [text, href] of [
      ['See https://example.org/wiki/Gate_(place).', 'https://example.org/wiki/Gate_(place)'],
      ['(See https://example.org/gate.)', 'https://example.org/gate'],
      ['(https://example.org/wiki/Gate_(place))', 'https://example.org/wiki/Gate_(place)'],
    ] as const) {
      await gateway.addEntries(text);
      const page = await fetch(`${gateway.url}/rooms/consciousness-garden?limit=1`, {
        headers: { accept: 'text/html' },
      });
      const [, found, shown] =
        /class="outside" href="([^"]+)"[^>]*>([^<]+)</.exec(await page.text()) ?? [];
      assert.deepEqual([found, shown], [href, href], text);
    }
  });
});
