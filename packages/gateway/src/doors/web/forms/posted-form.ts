/** A posted form, which can be read again: small ones are in memory, larger ones in a temporary file. */
import type { IncomingMessage } from 'node:http';

import { formSyntax } from '../../../intake/forms/form-body.ts';
import type { FieldHandler } from '../../../intake/forms/form-members.ts';
import { SMALL_BODY_SIZE } from '../../../intake/draft.ts';
import { BodyFile } from '../../../http/request/body-file.ts';
import { readBody } from '../../../http/request/request-body.ts';

export class PostedForm implements AsyncDisposable {
  readonly #contentType: string;
  readonly #body: Buffer | BodyFile;

  private constructor(contentType: string, body: Buffer | BodyFile) {
    this.#contentType = contentType;
    this.#body = body;
  }

  /**
   * Resolves once the body has arrived. Throws `invalid-parameter` if it cannot be decoded, `out-of-space`
   * or `unavailable` if it cannot be written to the folder.
   */
  static async receive(request: IncomingMessage, folder: string): Promise<PostedForm> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | AsyncIterable<Buffer>>();
    readBody(request, SMALL_BODY_SIZE, { onSmall: resolve, onLarge: resolve, onError: reject });
    const body = await promise;
    const contentType = request.headers['content-type'] ?? '';
    if (Buffer.isBuffer(body)) return new PostedForm(contentType, body);
    return new PostedForm(contentType, await fileOf(body, folder));
  }

  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    if (Buffer.isBuffer(this.#body)) yield this.#body;
    else yield* this.#body.chunks({ start: 0, end: this.#body.size });
  }

  /** Passes the fields to the handler, a piece with each step. Does nothing for JSON. */
  async *read(handler: FieldHandler): AsyncGenerator<void, void, undefined> {
    const chunks = this.chunks();
    const first = await chunks.next();
    await chunks.return();
    const firstByte = first.done === true ? undefined : first.value[0];
    const syntax = formSyntax(this.#contentType, firstByte);
    if (syntax !== undefined) yield* syntax.read(this.chunks(), handler);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#body instanceof BodyFile) await this.#body[Symbol.asyncDispose]();
  }
}

async function fileOf(chunks: AsyncIterable<Buffer>, folder: string): Promise<BodyFile> {
  const file = await BodyFile.create(folder);
  try {
    for await (const chunk of chunks) await file.write(chunk);
    return file;
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}
