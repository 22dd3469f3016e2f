/** A client of event streams (PROTOCOL.md section 12), which sees every line of them. */
import assert from 'node:assert/strict';

import { Answer } from './answer.ts';
import { Connections, type Headers, type Received } from './connections.ts';
import { entryOf, type Entry } from './entry.ts';
import { asObject, parseJson, asInteger } from './value.ts';

/** A block of lines up to a blank one, by the names of its fields. */
export interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
  readonly retry: string | undefined;
  /** Comment lines, without the colon. */
  readonly comments: readonly string[];
}

const LF = 0x0a;

/** Cuts the bytes of a stream into frames. Each is complete once its blank line has come. */
export class Frames {
  #rest: Buffer[] = [];
  #endsInLine = true;

  /** The frames that end in this piece. */
  push(piece: Buffer): Frame[] {
    const found: Frame[] = [];
    let from = 0;
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, at + 1)) {
      const blank = at === 0 ? !this.#endsInLine : piece[at - 1] === LF;
      if (!blank) continue;
      found.push(frameOf(Buffer.concat([...this.#rest, piece.subarray(from, at)]).toString()));
      this.#rest = [];
      from = at + 1;
    }
    if (from < piece.length) this.#rest.push(piece.subarray(from));
    this.#endsInLine = piece.length === 0 ? this.#endsInLine : piece.at(-1) !== LF;
    return found;
  }
}

function frameOf(block: string): Frame {
  const lines = block.split('\n').filter((line) => line !== '');
  const value = (name: string): string | undefined => {
    const [line, ...more] = lines.filter((one) => one.startsWith(`${name}:`));
    assert.equal(more.length, 0, `${name} comes once in an event: ${block.slice(0, 300)}`);
    return line?.slice(name.length + 1).replace(/^ /, '');
  };
  for (const line of lines) assert.match(line, /^(id|event|data|retry)?:/, 'a line is a field');
  return {
    id: value('id'),
    event: value('event'),
    data: value('data'),
    retry: value('retry'),
    comments: lines.filter((line) => line.startsWith(':')).map((line) => line.slice(1)),
  };
}

export interface StreamPlace {
  readonly base: URL;
  /** Where it is read, if elsewhere. */
  readonly reading?: URL | undefined;
}

/** Every stream that a process has opened, until it has ended: an open socket keeps the process from ending. */
const open = new Set<Received>();

/** Closes those that cases have left open. To be called once nobody reads any more. */
export function closeStreams(): void {
  for (const { body } of open) body.destroy();
}

/** A stream that is open. Reads only as far as it is asked to. */
export class EventStream implements Disposable {
  readonly answer: Answer;
  /** What the first event says: the cursor from which the stream goes on. */
  readonly head: number;
  readonly #received: Received;
  readonly #frames: AsyncGenerator<Frame, undefined>;

  private constructor(received: Received, frames: AsyncGenerator<Frame, undefined>, head: number) {
    this.#received = received;
    this.#frames = frames;
    this.head = head;
    this.answer = answerOf(received);
  }

  /** Resolves once the gateway has said from where the stream goes on. */
  static async open(place: StreamPlace, path: string, headers: Headers = {}): Promise<EventStream> {
    const received = await streaming(place, path, { accept: 'text/event-stream', ...headers });
    const frames = framesOf(received);
    try {
      for (;;) {
        const step = await frames.next();
        assert.ok(step.done !== true, 'a stream begins with the event "head"');
        const { event, id, data } = step.value;
        if (data === undefined) continue;
        assert.equal(event, 'head', 'the first event is "head"');
        const head = asInteger(asObject(parseJson(data))['head']);
        assert.equal(id, String(head));
        return new EventStream(received, frames, head);
      }
    } catch (error) {
      received.body.destroy();
      throw error;
    }
  }

  /** The next frame, comments included; undefined when the stream has ended as it should. */
  async frame(): Promise<Frame | undefined> {
    const step = await this.#frames.next();
    return step.done === true ? undefined : step.value;
  }

  /** The next entry; undefined when the stream has ended as it should. */
  async next(): Promise<Entry | undefined> {
    for (;;) {
      const frame = await this.frame();
      if (frame === undefined) return undefined;
      if (frame.data === undefined) continue;
      const entry = entryOf(frame.data);
      assert.deepEqual([frame.id, frame.event], [String(entry.seq), entry.kind]);
      return entry;
    }
  }

  async take(count: number): Promise<Entry[]> {
    const taken: Entry[] = [];
    while (taken.length < count) {
      const entry = await this.next();
      assert.ok(entry, `the stream ended after ${taken.length} of ${count} entries`);
      taken.push(entry);
    }
    return taken;
  }

  /** All entries up to the stream's own end. */
  async rest(): Promise<Entry[]> {
    const taken: Entry[] = [];
    for (let entry = await this.next(); entry; entry = await this.next()) taken.push(entry);
    return taken;
  }

  /** Goes away. */
  close(): void {
    this.#received.body.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Resolves with the head of an answer that is 200; throws with the text of any other. */
async function streaming(
  { base, reading = base }: StreamPlace,
  path: string,
  headers: Headers,
): Promise<Received> {
  // A connection of its own: a stream has it for as long as it is open.
  const connections = new Connections(reading);
  const spelled: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) spelled[name] = String(value);
  const received = await connections.send({ method: 'GET', path, headers: spelled });
  open.add(received);
  received.body.once('close', () => {
    open.delete(received);
    connections[Symbol.dispose]();
  });
  if (received.status === 200) return received;
  const pieces: Buffer[] = [];
  for await (const piece of received.body) if (Buffer.isBuffer(piece)) pieces.push(piece);
  return assert.fail(`${path}: ${received.status} ${Buffer.concat(pieces).toString()}`);
}

async function* framesOf(received: Received): AsyncGenerator<Frame, undefined> {
  const frames = new Frames();
  for await (const piece of received.body) {
    if (Buffer.isBuffer(piece)) yield* frames.push(piece);
  }
  assert.ok(received.isComplete(), 'the stream was cut');
}

function answerOf({ headers, status }: Received): Answer {
  return new Answer({ method: 'GET', status, headers, bytes: Buffer.alloc(0) });
}
