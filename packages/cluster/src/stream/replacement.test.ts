// A copy that reads replacements has the same log as one that has read the messages themselves.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { type DraftForm, packDrafts, unpackDrafts } from '@open-presence/gateway/replica';

import { draftOf, randomOf } from '../../../gateway/src/log/log.fixture.ts';
import { openForReading } from '../../../gateway/src/store/database.ts';
import { dataPathsIn } from '../../../gateway/src/store/data-paths.ts';
import { RowReader } from '../../../gateway/src/store/log/row-reader.ts';
import { digestOf, sha256 } from '../../../gateway/src/store/log/chain.ts';
import { readErasures, readRepeats } from '../../../gateway/src/store/replica/stream-messages.ts';
import { type Cases } from '../../../gateway/src/store/withholding/withheld-table.ts';
import { Withholder } from '../../../gateway/src/store/withholding/withholder.ts';
import { Writer } from '../../../gateway/src/store/writer/writer.ts';
import { LOG_FORMAT, withheldDrafts } from '../../../gateway/src/store/replica/sqlite-replica.ts';
import { SharedState } from '../../../gateway/src/store/shared-state.ts';
import type { PlacedMessage } from './message.ts';
import {
  packReplacement,
  type Replacement,
  replacementOf,
  unpackReplacement,
  withoutWithheld,
} from './replacement.ts';

const SEEDS = 5;
const MESSAGES = 60;

/** Some drafts share a key with another; each draft without a key has a text of its own. */
function messagesOf(random: (below: number) => number): PlacedMessage[] {
  return Array.from({ length: MESSAGES }, (_, index) => {
    const time = 1_700_000_000_000 + index;
    const drafts = Array.from({ length: random(6) }, (__, at) => {
      const number = random(MESSAGES);
      const key = random(2) === 0 ? { key: `key ${number}` } : {};
      // Most drafts with the same key have the same text.
      const text = 'key' in key && random(3) > 0 ? `<${number} 99>` : `<${index} ${at}>`;
      const draft = draftOf({ body: `"text":"${text}"`, ...key });
      return { ...draft, key: draft.key, large: undefined };
    });
    return {
      kind: 'drafts',
      publisher: 'aa',
      number: index + 1,
      settled: index,
      sent: time,
      nonce: Buffer.alloc(32, random(256)),
      payload: new Uint8Array(packDrafts(drafts)),
      position: index + 1,
      time,
    };
  });
}

/** The copy of one gateway, in a folder. */
class Copy {
  readonly #paths: ReturnType<typeof dataPathsIn>;
  readonly #writer: Writer;
  readonly #withholder: Withholder;

  constructor(folder: string) {
    this.#paths = dataPathsIn(folder);
    mkdirSync(this.#paths.large, { recursive: true });
    writeFileSync(this.#paths.lock, '');
    const shared = new SharedState();
    this.#writer = new Writer(this.#paths, shared);
    this.#withholder = new Withholder(this.#paths, shared, this.#writer);
  }

  apply(message: PlacedMessage, left?: Replacement): void {
    const drafts = left?.drafts ?? unpackDrafts(new Uint8Array(message.payload).buffer);
    const forms: readonly DraftForm[] | undefined = left?.forms;
    const results = this.#writer.apply([{ ...message, drafts, forms }], {
      stream: '',
      resumeAt: message.position + 1,
    });
    assert.notEqual(typeof results, 'string');
  }

  withhold(items: readonly Cases[]): void {
    void this.#withholder.withhold(items);
    while (this.#withholder.erase() === 'more');
  }

  /** The order to withhold this entry. */
  itemOf(seq: number, reason: string): Cases {
    using db = openForReading(this.#paths.log);
    const { salt, head, text } = new RowReader(db).entry(seq) ?? assert.fail('no entry');
    const digest = Buffer.from(digestOf(salt, sha256(text.subarray(head + 1, -1))));
    return { seqs: [seq], time: 5, reason, state: 'withheld', digests: [digest.toString('hex')] };
  }

  textOf(seq: number): string {
    using db = openForReading(this.#paths.log);
    const text = new RowReader(db).entry(seq)?.text.toString() ?? '';
    return /<\d+ \d+>/.exec(text)?.[0] ?? assert.fail(text);
  }

  /** Replaces the messages that the folder lists. Returns all replacements, by the positions of their messages. */
  replace(
    messages: readonly PlacedMessage[],
    earlier: ReadonlyMap<number, Replacement>,
  ): Map<number, Replacement> {
    using log = openForReading(this.#paths.log);
    const replaced = new Map(earlier);
    const withheld = withheldDrafts(log, new RowReader(log));
    for (const { position, first } of readErasures(log, 0, Number.MAX_SAFE_INTEGER)) {
      const message = messages[position - 1] ?? assert.fail('no message');
      const known = { first, repeats: readRepeats(log, position), withheld };
      const before = replaced.get(position) ?? replacementOf(message, LOG_FORMAT);
      const left = withoutWithheld(before, known, LOG_FORMAT);
      if (left !== undefined)
        replaced.set(position, unpackReplacement(Buffer.concat(packReplacement(left))));
    }
    return replaced;
  }

  /** Every entry with all its columns, and the table of withheld entries. */
  content(): object {
    using db = openForReading(this.#paths.log);
    const reader = new RowReader(db);
    const entries = Array.from({ length: reader.lastSeq() }, (_, index) => {
      const entry = reader.entry(index + 1) ?? assert.fail('no entry');
      const { time, link, salt, key, facets, text, digest } = entry;
      const bytes = [link, salt, key, facets, text, digest && Buffer.from(digest)];
      return [time, ...bytes.map((each) => each?.toString('hex'))];
    });
    return { entries, withheld: db.prepare('SELECT * FROM withheld ORDER BY number').all() };
  }

  get head(): number {
    using db = openForReading(this.#paths.log);
    return new RowReader(db).lastSeq();
  }

  close(): void {
    this.#writer.close();
  }
}

describe('what is left of messages in a stream', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'presence-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('makes the same entries, and has nothing of those that are withheld', () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) check(seed);
  });

  function check(seed: number): void {
    const random = randomOf(seed);
    const messages = messagesOf(random);
    const whole = new Copy(join(folder, `whole ${seed}`));
    for (const message of messages) whole.apply(message);
    const rounds = ['one', 'two'].map((reason) => {
      const seqs = new Set(Array.from({ length: 20 }, () => 1 + random(whole.head)));
      return { reason, seqs };
    });
    let left: Map<number, Replacement> = new Map();
    const withheld = new Map<number, string>();
    const withholdings: (readonly Cases[])[] = [];
    for (const { reason, seqs } of rounds) {
      const fresh = [...seqs].filter((seq) => !withheld.has(seq));
      const items = fresh.map((seq) => whole.itemOf(seq, reason));
      for (const seq of fresh) withheld.set(seq, whole.textOf(seq));
      withholdings.push(items);
      whole.withhold(items);
      left = whole.replace(messages, left);
    }
    const secrets = [...withheld.values()];
    const kept = Array.from({ length: whole.head }, (_, index) => index + 1)
      .filter((seq) => !withheld.has(seq))
      .map((seq) => whole.textOf(seq));
    const expected = whole.content();
    whole.close();
    // A new copy, and one that had read some messages before they were replaced.
    for (const from of [0, random(MESSAGES)]) {
      const copy = new Copy(join(folder, `${seed} from ${from}`));
      for (const [index, message] of messages.entries())
        copy.apply(message, index < from ? undefined : left.get(message.position));
      for (const items of withholdings) copy.withhold(items);
      assert.deepEqual(copy.content(), expected, `seed ${seed}, from ${from}`);
      copy.close();
    }
    assert.ok(left.size > 10);
    const rest = Buffer.concat([...left.values()].flatMap(packReplacement)).toString('latin1');
    assert.ok(kept.some((text) => rest.includes(text)));
    for (const text of secrets) assert.ok(!rest.includes(text), `${text} is withheld`);
  }
});
