/** Callers of a cluster while it has faults, and what they must not have seen at the end. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { until } from '../../../conformance/until.ts';
import { asArray, asObject, asString, parseJson } from '../../../conformance/value.ts';
import type { Cluster } from './cluster.ts';

const RETRYING = 6;
const RETRY_MS = 100;
const REQUEST_MS = 10_000;
/** A stream that is silent for longer is opened again: comments come every 15 seconds. */
const SILENCE_MS = 20_000;

export class Load {
  /** Every text that was answered by 200 or 201. */
  readonly acknowledged = new Set<string>();
  /** Of callers who do not retry: may be there or not, but not twice. */
  readonly #unanswered = new Set<string>();
  /** The longest time without a success, in milliseconds, by what it was. */
  readonly gaps = new Map<string, number>();
  readonly #cluster: Pick<Cluster, 'gateways'>;
  readonly #writing = new AbortController();
  readonly #stopping = new AbortController();
  readonly #failure = new AbortController();
  readonly #writers: Promise<void>[];
  readonly #followers: readonly Follower[];
  readonly #last = new Map<string, number>();

  constructor(cluster: Pick<Cluster, 'gateways'>) {
    this.#cluster = cluster;
    const { signal } = this.#stopping;
    this.#writers = [
      ...Array.from({ length: RETRYING }, (_, index) => this.#write(index)),
      ...cluster.gateways.map((_, index) => this.#writeOnce(index)),
      this.#read(),
    ];
    this.#followers = cluster.gateways.map((_, index) => {
      const progress = (): void => this.#progress('a stream');
      return new Follower((attempt) => this.#url(index + attempt), signal, progress);
    });
    for (const caller of [...this.#writers, ...this.#followers.map(({ running }) => running)])
      caller.catch((error: unknown) => this.#failure.abort(error));
  }

  /** Aborted when a caller saw what must not be. */
  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  /** Resolves when this many more entries are acknowledged. */
  async untilMore(entries: number): Promise<void> {
    const wanted = this.acknowledged.size + entries;
    await until(
      async () => {
        this.failure.throwIfAborted();
        return this.acknowledged.size;
      },
      (size) => size >= wanted,
      (size) => `nothing is acknowledged any more: ${size} of ${wanted}`,
    );
  }

  stop(): void {
    this.#writing.abort();
    this.#stopping.abort();
  }

  /** Ends the callers and compares what they know with every copy. */
  async check(): Promise<{ readonly entries: number; readonly unanswered: number }> {
    const copies = await this.#quietCopies();
    const [first] = copies;
    assert.ok(first);
    const { texts, head, log } = first;
    for (const copy of copies) assert.equal(copy.log, log, 'the links differ');
    assert.equal(new Set(texts).size, texts.length, 'an entry is there twice');
    const stored = new Set(texts);
    const lost = [...this.acknowledged].filter((text) => !stored.has(text));
    assert.deepEqual(lost, [], 'acknowledged entries are lost');
    const unknown = texts.filter(
      (text) => !this.acknowledged.has(text) && !this.#unanswered.has(text),
    );
    assert.ok(unknown.length <= RETRYING, `nobody said ${unknown.join()}`);
    for (const follower of this.#followers) await follower.reaches(head);
    this.stop();
    this.#failure.signal.throwIfAborted();
    return { entries: head, unanswered: this.#unanswered.size };
  }

  async #quietCopies(): Promise<readonly Copy[]> {
    this.#writing.abort();
    await Promise.all(this.#writers);
    return await until(
      () => Promise.all(this.#cluster.gateways.map(({ url }) => readCopy(url))),
      (all) => all.every(({ head }) => head === all[0]?.head),
      (all) => `the copies do not become equal: ${all.map(({ head }) => head).join()}`,
    );
  }

  #url(index: number): string {
    const { gateways } = this.#cluster;
    return gateways[index % gateways.length]?.url ?? '';
  }

  #progress(what: string): void {
    const now = performance.now();
    const gap = now - (this.#last.get(what) ?? now);
    this.gaps.set(what, Math.max(this.gaps.get(what) ?? 0, gap));
    this.#last.set(what, now);
  }

  /** Says one text after the other, each under a key until it is acknowledged by whichever gateway. */
  async #write(index: number): Promise<void> {
    while (!this.#writing.signal.aborted) {
      const text = randomUUID();
      const key = { 'idempotency-key': `"${text}"` };
      while (!(await this.#post(index, text, key)) && !this.#writing.signal.aborted) {
        index += 1;
        await pause(RETRY_MS);
      }
    }
  }

  /** Says each text once. */
  async #writeOnce(index: number): Promise<void> {
    while (!this.#writing.signal.aborted) {
      const text = randomUUID();
      if (!(await this.#post(index, text))) this.#unanswered.add(text);
      await pause(RETRY_MS);
    }
  }

  async #post(index: number, text: string, headers = {}): Promise<boolean> {
    const response = await ask(`${this.#url(index)}/api/shepit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ text }),
    });
    const isStored = response?.status === 201 || response?.status === 200;
    if (!isStored) return false;
    this.acknowledged.add(text);
    this.#progress('storing');
    return true;
  }

  /** Goes from gateway to gateway, and names what it has seen. */
  async #read(): Promise<void> {
    let seen = 0;
    for (let index = 0; !this.#writing.signal.aborted; index += 1) {
      const response = await ask(
        `${this.#url(index)}/api/entries?order=oldest&after=${seen}&limit=1000`,
      );
      if (response?.status === 200) {
        const { head, entries } = asObject(parseJson(response.text));
        const seqs = asArray(entries).map((entry) => Number(asObject(entry)['seq']));
        assert.ok(
          Number(head) >= seen,
          `entry ${seen} was seen, then the head was ${Number(head)}`,
        );
        for (const seq of seqs.toSorted((one, other) => one - other)) {
          assert.equal(seq, seen + 1, 'a reader missed an entry');
          seen = seq;
        }
        this.#progress('reading');
      } else {
        assert.equal(response?.status ?? 503, 503, response?.text ?? '');
      }
      await pause(RETRY_MS);
    }
  }
}

/** Follows the log from its beginning, also over lost streams, from its last entry on. */
class Follower {
  readonly running: Promise<void>;
  readonly #urlOf: (attempt: number) => string;
  readonly #signal: AbortSignal;
  readonly #onProgress: () => void;
  #last = 0;

  constructor(urlOf: (attempt: number) => string, signal: AbortSignal, onProgress: () => void) {
    this.#urlOf = urlOf;
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.running = this.#run();
  }

  async reaches(head: number): Promise<void> {
    await until(
      async () => this.#last,
      (last) => last >= head,
      (last) => `a stream stands at ${last} of ${head}`,
    );
  }

  async #run(): Promise<void> {
    for (let attempt = 0; !this.#signal.aborted; attempt += 1) {
      const silence = new AbortController();
      const signal = AbortSignal.any([this.#signal, silence.signal]);
      const timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const headers = { accept: 'text/event-stream', 'last-event-id': String(this.#last) };
      try {
        const response = await fetch(`${this.#urlOf(attempt)}/api/entries`, { headers, signal });
        if (response.status !== 200) await response.arrayBuffer();
        else await this.#follow(response, timer);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
      } finally {
        clearTimeout(timer);
      }
      await pause(RETRY_MS);
    }
  }

  async #follow(response: Response, timer: NodeJS.Timeout): Promise<void> {
    let rest = '';
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      rest += Buffer.from(chunk).toString('latin1');
      const end = rest.lastIndexOf('\n\n');
      if (end === -1) continue;
      for (const event of rest.slice(0, end).split('\n\n')) this.#receive(event);
      rest = rest.slice(end + 2);
    }
  }

  #receive(event: string): void {
    const id = /^id: ?(\d+)$/m.exec(event)?.[1];
    if (id === undefined || /^event: ?head$/m.test(event)) return;
    assert.equal(Number(id), this.#last + 1, 'a stream missed or repeated an entry');
    this.#last = Number(id);
    this.#onProgress();
  }
}

interface Copy {
  readonly head: number;
  readonly texts: readonly string[];
  /** Every entry with its link. */
  readonly log: string;
}

async function readCopy(url: string): Promise<Copy> {
  const listing = await (await fetch(`${url}/api/entries?order=oldest`)).text();
  const { head, entries } = asObject(parseJson(listing));
  const texts = asArray(entries).map((entry) => asString(asObject(entry)['text']));
  const log = await (await fetch(`${url}/api/log?after=0&before=${Number(head) + 1}`)).text();
  return { head: Number(head), texts, log };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Undefined where nobody answers in time. */
async function ask(url: string, options: RequestInit = {}): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(REQUEST_MS) });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}
