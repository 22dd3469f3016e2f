/** Plain requests, where the client's speed does not matter. */
import { createWriteStream } from 'node:fs';
import { request, type Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';

interface RequestOptions {
  readonly agent?: Agent;
  /** Makes it a POST. */
  readonly body?: string;
}

export interface TextResponse {
  readonly status: number;
  readonly text: string;
}

/** Resolves when the headers of the response are there. */
export async function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve).once('error', reject);
  return await promise;
}

async function open(url: string, options: RequestOptions = {}): Promise<IncomingMessage> {
  const sent = request(url, {
    method: options.body === undefined ? 'GET' : 'POST',
    ...(options.agent !== undefined && { agent: options.agent }),
  });
  sent.end(options.body);
  return await responseOf(sent);
}

export async function sendRequest(
  url: string,
  options: RequestOptions = {},
): Promise<TextResponse> {
  const response = await open(url, options);
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, text };
}

/** Writes the body of a 200 to a file. */
export async function download(url: string, path: string): Promise<void> {
  const response = await open(url);
  if (response.statusCode !== 200)
    throw new Error(`Cannot save ${url}: got ${response.statusCode}`);
  await pipeline(response, createWriteStream(path));
}

/** The newest seq of the gateway's log. */
export async function headOf(url: string): Promise<number> {
  const { status, text } = await sendRequest(`${url}/api/garden?limit=0`);
  const head = /"head":(\d+)/.exec(text)?.[1];
  if (status !== 200 || head === undefined) {
    throw new Error(`Cannot read the head of the log: got ${status} ${text.slice(0, 500)}`);
  }
  return Number(head);
}
