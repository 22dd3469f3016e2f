/**
 * Finds out for readers whether this copy has every entry that any gateway has acknowledged. A message
 * without drafts is published: it comes behind all that the stream had when it was asked, so once it is
 * applied here, they are too. Readers who ask meanwhile share the next one.
 */
import type { CatchUpRequest, CatchUpResponse } from '../sqlite/log/catch-up.ts';
import type { Publisher } from './publisher.ts';

/** Leads to a thread that reads. */
export interface ReaderPort {
  postMessage(response: CatchUpResponse): void;
}

interface Question extends CatchUpRequest {
  readonly reader: ReaderPort;
}

export class CatchingUp {
  readonly #publisher: Pick<Publisher, 'publish'>;
  /** They came after the message was published. */
  #waiting: Question[] = [];
  #published: { readonly number: number; readonly questions: readonly Question[] } | undefined;

  constructor(publisher: Pick<Publisher, 'publish'>) {
    this.#publisher = publisher;
  }

  add(reader: ReaderPort, { catchUp }: CatchUpRequest): void {
    this.#waiting.push({ reader, catchUp });
    if (this.#published === undefined) this.#publish();
  }

  /** To be called when a message of this gateway was applied. */
  applied(number: number): void {
    if (number !== this.#published?.number) return;
    answer(this.#published.questions, true);
    this.#published = undefined;
    if (this.#waiting.length > 0) this.#publish();
  }

  /** Answers everybody that it cannot be known now. */
  giveUp(): void {
    const { questions = [] } = this.#published ?? {};
    this.#published = undefined;
    answer([...questions, ...this.#waiting.splice(0)], false);
  }

  #publish(): void {
    const questions = this.#waiting.splice(0);
    const [number] = this.#publisher.publish('drafts', []);
    this.#published = { number, questions };
  }
}

function answer(questions: readonly Question[], isKnown: boolean): void {
  for (const { reader, catchUp } of questions) reader.postMessage({ caughtUp: catchUp, isKnown });
}
