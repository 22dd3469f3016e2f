/** A posted form. Up to 1 MiB of it is read before it is judged, so that a refused one can be sent back. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

import type { FieldValues } from '@open-presence/web/page-data';

import { SMALL_BODY_SIZE } from '../../../intake/draft.ts';
import { formSyntax } from '../../../intake/forms/form-body.ts';
import { MultipartError } from '../../../intake/forms/multipart.ts';
import { readBody } from '../../../http/request/request-body.ts';

const MAX_HELD = 1024 * 1024;

export class PostedForm {
  readonly #contentType: string;
  readonly #held: readonly Buffer[];
  readonly #rest: AsyncIterator<Buffer> | undefined;

  private constructor(
    contentType: string,
    held: readonly Buffer[],
    rest: AsyncIterator<Buffer> | undefined,
  ) {
    this.#contentType = contentType;
    this.#held = held;
    this.#rest = rest;
  }

  /** Throws `invalid-parameter` if the body cannot be decoded. */
  static async receive(request: IncomingMessage): Promise<PostedForm> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | AsyncIterable<Buffer>>();
    readBody(request, SMALL_BODY_SIZE, { onSmall: resolve, onLarge: resolve, onError: reject });
    const body = await promise;
    const contentType = request.headers['content-type'] ?? '';
    if (Buffer.isBuffer(body)) return new PostedForm(contentType, [body], undefined);
    const chunks = body[Symbol.asyncIterator]();
    const held: Buffer[] = [];
    for (let size = 0; size <= MAX_HELD;) {
      const step = await chunks.next();
      if (step.done === true) return new PostedForm(contentType, held, undefined);
      held.push(Buffer.from(step.value));
      size += step.value.length;
    }
    return new PostedForm(contentType, held, chunks);
  }

  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    yield* this.#held;
    const rest = this.#rest;
    if (rest !== undefined) yield* { [Symbol.asyncIterator]: () => rest };
  }

  /** What was typed, by field. Empty for what is no form, and for one that is longer than what is held. */
  async values(): Promise<FieldValues> {
    const bytes = Buffer.concat(this.#held);
    const syntax = formSyntax(this.#contentType, bytes[0]);
    if (this.#rest !== undefined || syntax === undefined) return [];
    const values: (readonly [string, string])[] = [];
    let [name, value] = ['', ''];
    const decode = (piece: Uint8Array): string => Buffer.from(piece).toString('latin1');
    const handler = {
      name: (piece: Uint8Array): void => void (name += decode(piece)),
      value: (piece: Uint8Array): void => void (value += decode(piece)),
      endField(): void {
        values.push([fromLatin1(name), fromLatin1(value)]);
        [name, value] = ['', ''];
      },
    };
    try {
      for await (const _ of syntax.read(Readable.from([bytes]), handler));
    } catch (error) {
      // What came before it is shown.
      if (!(error instanceof MultipartError)) throw error;
    }
    return values;
  }
}

function fromLatin1(text: string): string {
  return Buffer.from(text, 'latin1').toString();
}
