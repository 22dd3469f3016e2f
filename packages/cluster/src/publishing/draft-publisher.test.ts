// Which drafts travel together, in virtual time: in real time, the load of the machine would decide.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import {
  type AppendingPort,
  packDrafts,
  packResults,
  unpackDrafts,
  type WriteResult,
} from '@open-presence/gateway/replica';

import { draftOf } from '../../../gateway/src/log/log.fixture.ts';
import { DraftPublisher } from './draft-publisher.ts';

const STORED: WriteResult = { outcome: 'appended', seq: 1, time: 1, salt: 1 };
const WAY_MS = 10;
/** More bytes than a body in a message may have. */
const LARGE = 300_000;

/** A stream that takes each message, and applies it when the test says so. */
class TestStream {
  /** How many drafts each message had. */
  readonly messages: number[] = [];
  /** The batches in each answer. */
  readonly answers: (readonly number[])[] = [];
  /** Resolves when the stream has the upload of every large draft. */
  readonly upload = Promise.withResolvers<void>();
  readonly #drafts: DraftPublisher;
  readonly #client: AppendingPort = {
    postMessage: ({ batches }) => void this.answers.push(batches),
  };
  #batches = 0;

  constructor() {
    const publish = (_kind: string, packed: readonly Uint8Array[]): [number, Promise<void>] => {
      const drafts = packed.flatMap((bytes) => unpackDrafts(new Uint8Array(bytes).buffer));
      return [this.messages.push(drafts.length), Promise.resolve()];
    };
    this.#drafts = new DraftPublisher(
      { publish },
      {
        spool: () => Promise.resolve({ name: 'x', size: LARGE, digest: '0'.repeat(64) }),
        send: () => this.upload.promise,
        discard: () => assert.fail('nothing is refused'),
      },
    );
  }

  /** A batch of `count` drafts. */
  append(count = 1, body = '"text":"x"'): void {
    const draft = { ...draftOf({ body }), key: undefined, large: undefined };
    this.#batches += 1;
    const drafts = packDrafts(Array.from({ length: count }, () => draft));
    this.#drafts.add(this.#client, { batch: this.#batches, drafts });
  }

  giveUp(): void {
    this.#drafts.giveUp();
  }

  /** Applies the newest message, which was on its way for `WAY_MS`. */
  apply(): void {
    mock.timers.tick(WAY_MS);
    const results = Array.from({ length: this.messages.at(-1) ?? 0 }, () => STORED);
    this.#drafts.applied(this.messages.length, packResults(results));
  }
}

suite('drafts', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
  afterEach(() => mock.timers.reset());

  test('that come while a message is on its way travel together in the next one', () => {
    const stream = new TestStream();
    stream.append();
    stream.append(2);
    stream.append();
    assert.deepEqual(stream.messages, [1]);
    stream.apply();
    mock.timers.tick(WAY_MS);
    assert.deepEqual(stream.messages, [1, 3]);
  });

  test('of a caller who says one thing after another do not wait, and no empty message follows', () => {
    const stream = new TestStream();
    for (let said = 0; said < 3; said += 1) {
      stream.append();
      stream.apply();
    }
    mock.timers.tick(WAY_MS);
    assert.deepEqual(stream.messages, [1, 1, 1]);
  });

  test('wait until callers who were just answered have sent as many drafts again', () => {
    const stream = new TestStream();
    stream.append(2);
    stream.append();
    stream.apply();
    stream.append();
    assert.deepEqual(stream.messages, [2], 'one of the two has said nothing yet');
    stream.append();
    assert.deepEqual(stream.messages, [2, 3]);
  });

  test('do not wait for long for callers who were just answered', () => {
    const stream = new TestStream();
    stream.append(2);
    stream.apply();
    stream.append();
    assert.deepEqual(stream.messages, [2]);
    mock.timers.tick(WAY_MS / 2);
    assert.deepEqual(stream.messages, [2, 1]);
  });

  test('of one thread are answered in one message', () => {
    const stream = new TestStream();
    stream.append();
    stream.append(2);
    stream.append();
    stream.apply();
    mock.timers.tick(WAY_MS);
    stream.apply();
    assert.deepEqual(stream.answers, [[1], [2, 3]]);
  });

  test('are each answered once when they are given up, even while their uploads are on their way', async () => {
    const stream = new TestStream();
    stream.append();
    stream.append();
    stream.append(2, `"text":"${'x'.repeat(LARGE)}"`);
    await turn();
    stream.giveUp();
    assert.deepEqual(new Set(stream.answers.flat()), new Set([1, 2, 3]));
    stream.upload.resolve();
    await turn();
    mock.timers.tick(WAY_MS);
    assert.deepEqual(stream.messages, [1], 'answered drafts are not published');
    assert.equal(stream.answers.flat().length, 3);
  });
});
