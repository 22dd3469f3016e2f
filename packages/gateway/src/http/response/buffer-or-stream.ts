/** Responses, mostly JSON, whose size is not known in advance: small ones are buffered, others streamed. */
import { isDisconnected, type RequestContext, type StartupContext } from '../context.ts';
import { COMMON_HEADERS, contentEncoding, etag, JSON_TYPE, type Headers } from './headers.ts';
import { sendResponse } from './response.ts';
import { sendBody } from './response-writer.ts';
import { streamEncoding } from '../negotiation.ts';

/** Larger responses, in bytes, are streamed. */
const MAX_BUFFERED_SIZE = 256 * 1024;

interface GeneratedResponse {
  /** The generator must not reuse the memory of its chunks. */
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
  readonly headers: Headers;
  readonly tag?: string;
  /** JSON by default. */
  readonly type?: string;
}

/** Ends the generator when the caller disconnects. */
export async function bufferOrStream(
  context: RequestContext<StartupContext>,
  { chunks, headers, tag, type = JSON_TYPE }: GeneratedResponse,
): Promise<void> {
  const { request, response } = context;
  const start: Uint8Array[] = [];
  try {
    for (let size = 0; size <= MAX_BUFFERED_SIZE;) {
      if (isDisconnected(context)) return;
      const step = await chunks.next();
      if (step.done === true) {
        const body = Buffer.concat(start);
        await sendResponse(context, { status: 200, type, headers, body, tag });
        return;
      }
      start.push(step.value);
      size += step.value.length;
    }
    const encoding = streamEncoding(request);
    response.writeHead(200, {
      'Content-Type': type,
      ...etag(tag, encoding),
      ...contentEncoding(encoding),
      ...headers,
      ...COMMON_HEADERS,
    });
    await sendBody(context, encoding, concatenated(start, chunks));
  } finally {
    await chunks.return();
  }
}

async function* concatenated(
  start: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* start;
  yield* rest;
}
