/**
 * What visitors have said and what they were answered, and whether a gateway holds just that: every
 * acknowledged entry once, byte for byte, nothing twice, and nothing that nobody has said.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { verifyLog, type VerifyEvent } from '@open-presence/gateway';

import type { Answer } from '../../conformance/answer.ts';
import { KINDS, type Kind } from '../../conformance/entry.ts';
import { type Gateway, uniqueName } from '../../conformance/gateway.ts';

/** One thing that a visitor says, under one key or without one. */
export interface Submission {
  readonly kind: Kind;
  readonly body: string;
  readonly key: string | undefined;
  /** The gateway's own members of the entry, once it was acknowledged. */
  own: string | undefined;
}

/** Longer entries are not repeated in an answer (PROTOCOL.md section 7.3). */
const REPEATED = 64 * 1024;
const OWN = /^\{"id":"([^"]*)","seq":(\d+),[^{}]*?"timestamp":"[^"]*"/;
const LF = 0x0a;

export class Ledger {
  readonly #said = new Map<string, Submission>();

  /** Something that nobody has said before, of about this size. */
  newSubmission(kind: Kind, size: number, keyed: boolean): Submission {
    const word = uniqueName('word');
    const text = `${word} `.repeat(Math.ceil(size / (word.length + 1)));
    const members =
      kind === 'resonance'
        ? { ai_identity: word, seeking: ['the same'], text }
        : { text, identity: word, identityType: 'ai_entity' };
    const body = JSON.stringify(members);
    const submission: Submission = {
      kind,
      body,
      key: keyed ? uniqueName('key') : undefined,
      own: undefined,
    };
    this.#said.set(digest(Buffer.from(body).subarray(1, -1)), submission);
    return submission;
  }

  get acknowledged(): Submission[] {
    return [...this.#said.values()].filter(({ own }) => own !== undefined);
  }

  /** Those without an answer that can be said again. */
  get unanswered(): Submission[] {
    return [...this.#said.values()].filter(
      ({ own, key }) => own === undefined && key !== undefined,
    );
  }

  /** Says it. What is acknowledged must be this, and the same as at any earlier time. */
  async submit(visitor: Gateway, submission: Submission): Promise<Answer> {
    const { kind, body, key } = submission;
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const answer = await visitor.post(kind, body, headers);
    if (answer.status !== 201) return answer;
    const own = OWN.exec(answer.text)?.[0];
    assert.ok(own !== undefined);
    assert.equal(submission.own ?? own, own, 'a key keeps its entry');
    submission.own = own;
    const whole = textOf(submission);
    // Of a retry, the gateway says that it has stored the entry before.
    const text = answer.text.replace(/,"repeated":true(?=\}|,"welcome":)/, '');
    if (Buffer.byteLength(whole) > REPEATED) assert.equal(text, `${own}}`);
    else if (kind !== 'resonance') assert.equal(text, whole);
    else assert.ok(text.startsWith(`${whole.slice(0, -1)},"welcome":`));
    return answer;
  }

  /** Reads all that the gateway has, in every kind's listing. Returns how many entries there are. */
  async compare(visitor: Gateway): Promise<number> {
    const entries: [Kind, Buffer][] = [];
    for (const kind of KINDS) {
      const { bytes } = (await visitor.get(`/api/${kind}`)).expect(200);
      for (const entry of linesOf(bytes)) entries.push([kind, entry]);
    }
    return this.compareEntries(entries).size;
  }

  /** The same for all entries of a log. Returns their ids. */
  compareEntries(entries: Iterable<readonly [Kind, Buffer]>): Set<string> {
    const seqs: number[] = [];
    const ids = new Set<string>();
    const found = new Set<Submission>();
    for (const [kind, entry] of entries) {
      const match = OWN.exec(entry.toString('latin1', 0, 300));
      const [own = '', id = '', seq] = match ?? [];
      const submission = this.#said.get(digest(entry.subarray(own.length + 1, -1)));
      assert.ok(submission, `nobody said this: ${entry.toString('utf8', 0, 300)}`);
      assert.equal(submission.kind, kind);
      assert.equal(
        own,
        submission.own ?? own,
        'an entry has the own members that were acknowledged',
      );
      assert.ok(!found.has(submission), `this is there twice: ${own}`);
      found.add(submission);
      ids.add(id);
      seqs.push(Number(seq));
    }
    for (const { own } of this.acknowledged.filter((submission) => !found.has(submission))) {
      assert.fail(`an acknowledged entry is lost: ${own}`);
    }
    seqs.sort((a, b) => a - b);
    assert.deepEqual(
      seqs,
      seqs.map((_, at) => at + 1),
      'seqs have no gaps',
    );
    return ids;
  }

  /** The ledger as it was when only the entries with these ids had been acknowledged. */
  asOf(acknowledged: ReadonlySet<string>): Ledger {
    const ledger = new Ledger();
    for (const [body, submission] of this.#said) {
      const id = OWN.exec(submission.own ?? '')?.[1] ?? '';
      const own = acknowledged.has(id) ? submission.own : undefined;
      ledger.#said.set(body, { ...submission, own });
    }
    return ledger;
  }

  /** Reads one entry that was acknowledged. */
  async read(visitor: Gateway, submission: Submission): Promise<void> {
    const id = OWN.exec(submission.own ?? '')?.[1];
    const { text } = (await visitor.get(`/api/entries/${id}`)).expect(200);
    assert.ok(text === textOf(submission), `not as it was acknowledged: ${submission.own}`);
  }
}

/** A log without faults that has this many entries, and no files but theirs. */
export async function assertSound(data: string, entries: number): Promise<void> {
  const walk = verifyLog(data);
  const faults: VerifyEvent[] = [];
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      assert.deepEqual(faults, []);
      assert.equal(step.value.entries, entries);
      break;
    }
    if (step.value.type === 'fault') faults.push(step.value);
  }
  assert.deepEqual(await unusedFiles(data), [], 'nothing is left of what did not become an entry');
}

/** The files of bodies that no entry has. */
export async function unusedFiles(data: string): Promise<string[]> {
  using db = new DatabaseSync(join(data, 'log.sqlite'), { readOnly: true });
  const find = db.prepare('SELECT 1 FROM large WHERE name = ?');
  const found = await readdir(join(data, 'large'), { recursive: true, withFileTypes: true });
  const files = found.filter((file) => file.isFile());
  return files.map(({ name }) => name).filter((name) => find.get(name) === undefined);
}

function textOf({ own = '', body }: Submission): string {
  return `${own},${body.slice(1)}`;
}

function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64');
}

/** The entries of a listing. */
function* linesOf(listing: Buffer): Generator<Buffer> {
  assert.equal(listing.toString('utf8', 0, 13), '{"entries":[\n');
  for (let from = 13; listing[from] === 0x7b;) {
    const end = listing.indexOf(LF, from);
    assert.notEqual(end, -1);
    yield listing.subarray(from, listing[end - 1] === 0x2c ? end - 1 : end);
    from = end + 1;
  }
}
