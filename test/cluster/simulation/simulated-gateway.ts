/**
 * A gateway of the simulated cluster: its own code for publishing, applying, storing and erasing, without
 * threads, servers and doors. A crash leaves what is in its folder.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import type { InlineDraft } from '../../../packages/gateway/src/log/log.fixture.ts';
import { type DataPaths, dataPathsIn } from '../../../packages/gateway/src/store/data-paths.ts';
import { openForReading } from '../../../packages/gateway/src/store/database.ts';
import type { WriteResult } from '../../../packages/gateway/src/log/packed-drafts.ts';
import { RowReader } from '../../../packages/gateway/src/store/log/row-reader.ts';
import { finalPath } from '../../../packages/gateway/src/store/large/large-files.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { Fault } from './faults.ts';
import { RunningGateway } from './running-gateway.ts';
import type { SimulatedStream } from './simulated-stream.ts';

/** An entry as this copy has it. */
export interface StoredEntry {
  readonly text: string;
  readonly link: string;
  readonly isWithheld: boolean;
  /** SHA-256 of its body where that is in a file. */
  readonly digest: string | undefined;
}

/** Bytes of a large body that are looked at. */
const MAX_START = 1000;

export class SimulatedGateway {
  readonly #folder: string;
  readonly #paths: DataPaths;
  readonly #stream: SimulatedStream;
  readonly #random: SeededRandom;
  readonly #fault: Fault | undefined;
  #run: RunningGateway | undefined;

  constructor(
    folder: string,
    stream: SimulatedStream,
    random: SeededRandom,
    fault: Fault | undefined,
  ) {
    this.#folder = folder;
    this.#stream = stream;
    this.#random = random;
    this.#fault = fault;
    this.#paths = dataPathsIn(folder);
    mkdirSync(this.#paths.large, { recursive: true });
    writeFileSync(this.#paths.lock, '');
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Whether it has been given everything that the stream has. */
  get hasAll(): boolean {
    return this.#run !== undefined && this.#run.next > this.#stream.messages.length;
  }

  /** Whether it has been given all messages, and has answered all its clients. */
  get isIdle(): boolean {
    return this.hasAll && this.#run?.isIdle === true;
  }

  start(): void {
    if (this.#fault === 'forgets its position')
      this.#change("DELETE FROM meta WHERE name = 'stream' OR name LIKE 'publisher %'");
    if (this.#fault === 'remembers publishers for ever')
      this.#change(
        "UPDATE meta SET value = json_set(value, '$.last', 9e15) WHERE name LIKE 'publisher %'",
      );
    this.#run = new RunningGateway(this.#folder, this.#stream, this.#random, this.#fault);
    if (this.#fault === 'skips a message' && this.#run.next > 1) this.#run.next += 1;
  }

  crash(): void {
    this.#run?.end();
    this.#run = undefined;
  }

  /** `onResult`: never called if the gateway crashes first. */
  append(draft: InlineDraft, onResult: (result: WriteResult) => void): void {
    this.#run?.append(draft, onResult);
  }

  /** Withholds one of its entries, if it has any. `onWithheld`: called once nothing is left of it. */
  withhold(onWithheld: (seq: number) => void): void {
    void this.#run?.withhold(this.#random, onWithheld);
  }

  get isConnected(): boolean {
    return this.#run?.isConnected === true;
  }
  set isConnected(isConnected: boolean) {
    if (this.#run !== undefined) this.#run.isConnected = isConnected;
  }

  /** Gives it the next message of the stream, if there is one. */
  deliver(): void {
    const run = this.#run;
    const message = run && this.#stream.messages[run.next - 1];
    if (run?.isConnected !== true || message === undefined) return;
    const following = this.#stream.messages[run.next];
    if (this.#fault === 'swaps messages' && following !== undefined) {
      run.next += 2;
      run.receive(following);
      run.receive(message);
      return;
    }
    run.next += 1;
    run.receive(message);
    // A reader that has lost its connection may be given some again.
    if (this.#random.chance(0.1)) run.receive(message);
  }

  entries(): StoredEntry[] {
    using db = openForReading(this.#paths.log);
    const reader = new RowReader(db);
    return Array.from({ length: reader.lastSeq() }, (_, index) => {
      const entry = reader.entry(index + 1);
      const large = entry?.large;
      const body = large && readFileSync(finalPath(this.#paths, large));
      return {
        text: (entry?.text.toString() ?? '') + (body?.toString('latin1', 0, MAX_START) ?? ''),
        link: entry?.link.toString('hex') ?? '',
        isWithheld: entry?.digest !== undefined,
        digest: body && createHash('sha256').update(body.subarray(0, -1)).digest('hex'),
      };
    });
  }

  /** The ids of those that it remembers, sorted. */
  publishers(): string[] {
    using db = openForReading(this.#paths.log);
    const rows = db
      .prepare("SELECT name FROM meta WHERE name LIKE 'publisher %' ORDER BY name")
      .all();
    return rows.map(({ name }) => String(name).slice('publisher '.length));
  }

  #change(statement: string): void {
    using db = new DatabaseSync(this.#paths.log);
    const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
    if (hasTable !== undefined) db.exec(statement);
  }
}
