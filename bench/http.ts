/** Plain requests of the benchmarks' own, where speed is not what is measured. */
import { createWriteStream } from 'node:fs';
import { request, type Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';

interface Question {
  readonly agent?: Agent;
  /** Makes it a POST. */
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Resolves when the head of the answer is there. */
export async function answerTo(asked: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  asked.once('response', resolve).once('error', reject);
  return await promise;
}

async function open(url: string, question: Question = {}): Promise<IncomingMessage> {
  const asked = request(url, {
    method: question.body === undefined ? 'GET' : 'POST',
    ...(question.agent !== undefined && { agent: question.agent }),
  });
  asked.end(question.body);
  return await answerTo(asked);
}

export async function ask(url: string, question: Question = {}): Promise<Answer> {
  const answer = await open(url, question);
  answer.setEncoding('utf8');
  let text = '';
  for await (const piece of answer) text += String(piece);
  return { status: answer.statusCode ?? 0, text };
}

/** Keeps the body of a 200 in a file. */
export async function save(url: string, path: string): Promise<void> {
  const answer = await open(url);
  if (answer.statusCode !== 200) throw new Error(`Cannot save ${url}: got ${answer.statusCode}`);
  await pipeline(answer, createWriteStream(path));
}

/** The newest seq of the gateway's log. */
export async function headOf(url: string): Promise<number> {
  const { status, text } = await ask(`${url}/api/garden?limit=0`);
  const said = /"head":(\d+)/.exec(text)?.[1];
  if (status !== 200 || said === undefined) {
    throw new Error(`Cannot read the head of the log: got ${status} ${text.slice(0, 500)}`);
  }
  return Number(said);
}

/** A port of the loopback interface that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('Cannot find a free port');
  return address.port;
}
