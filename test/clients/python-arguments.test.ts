// What a program in Python gives the client, and what becomes of it.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { runPython } from './python-program.ts';

suite('a program in Python', needs('python3'), () => {
  const served = sharedGateway();

  test('is told that many entries need a key that is not empty', async () => {
    const shown = await runPython(
      `
gateway = Gateway(URL)
for key in "", " \\t":
    show(caught(lambda: list(gateway.say_many(["one"], kind="shepit", idempotency_key=key))).code)
show(list(gateway.entries(kind="shepit")))
`,
      served.url,
    );
    assert.deepEqual(shown, ['invalid-parameter', 'invalid-parameter', []]);
  });
});
