/** Answers that are made piece by piece: sent whole where they turn out small, else as a stream. */
import { preferredEncoding } from './negotiation.ts';
import { sendResponse } from './response.ts';
import { COMMON_HEADERS, contentEncoding, JSON_TYPE, etag, type Headers } from './headers.ts';
import { isDisconnected, type RequestContext, type StartupContext } from './context.ts';
import { ResponseWriter } from './response-writer.ts';

/** Answers up to this size are sent whole. */
const SMALL_ANSWER = 256 * 1024;

interface Piecewise {
  readonly pieces: AsyncGenerator<Uint8Array, void, undefined>;
  readonly headers: Headers;
  readonly tag?: string;
}

/** Pieces must keep their bytes. Ends the generator when the caller is gone. */
export async function bufferOrStream(
  context: RequestContext<StartupContext>,
  what: Piecewise,
): Promise<void> {
  const { request, response } = context;
  const { pieces, headers, tag } = what;
  const begun: Uint8Array[] = [];
  for (let size = 0; size <= SMALL_ANSWER && !isDisconnected(context);) {
    const step = await pieces.next();
    if (step.done === true) {
      const whole = { status: 200, type: JSON_TYPE, headers, body: Buffer.concat(begun) };
      await sendResponse(context, tag === undefined ? whole : { ...whole, tag });
      return;
    }
    begun.push(step.value);
    size += step.value.length;
  }
  try {
    if (isDisconnected(context)) return;
    const encoding = preferredEncoding(request.headers['accept-encoding']);
    response.writeHead(200, {
      'Content-Type': JSON_TYPE,
      ...etag(tag, encoding),
      ...contentEncoding(encoding),
      ...headers,
      ...COMMON_HEADERS,
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const writer = new ResponseWriter(response, encoding);
    for (const piece of begun) if (!(await writer.write(piece))) return;
    for await (const piece of pieces) if (!(await writer.write(piece))) return;
    await writer.end();
  } finally {
    await pieces.return();
  }
}
