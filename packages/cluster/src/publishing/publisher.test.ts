import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { Publisher } from './publisher.ts';

suite('a message', () => {
  test('is published until the stream has it at a place, and holds storing meanwhile', async () => {
    const places = [0, 0, 7];
    const holding: boolean[] = [];
    const publisher: Publisher = new Publisher(
      'gateway',
      Promise.resolve({
        publish: () => {
          holding.push(publisher.isHolding);
          return Promise.resolve({ seq: places.shift() ?? assert.fail('it is there') });
        },
      }),
      'subject',
      () => {},
    );
    await publisher.publish('drafts', [])[1];
    assert.deepEqual(holding, [true, true, true]);
    assert.equal(publisher.isHolding, false);
    assert.equal(publisher.acknowledged, 7);
  });
});
