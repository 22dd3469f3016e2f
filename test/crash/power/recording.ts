/** Records the system calls of gateways under load: of one that starts anew, then of one after it was killed. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { Gateway } from '../../../conformance/gateway.ts';
import { until } from '../../../conformance/until.ts';
import { type DataFolder, dataFolder, startGatewayProcess } from '../../gateway-process.ts';
import { SeededRandom } from '../../seeded-random.ts';
import { Ledger, type Submission } from '../ledger.ts';
import { RECORDED_CALLS, readTrace, type SystemCall } from './trace.ts';

const WRITERS = 8;
const ACKNOWLEDGED_PER_PROCESS = 150;

export interface Recording {
  readonly ledger: Ledger;
  /** What the recorded paths are beneath. The data folder is `data` in it. */
  readonly root: string;
  /** The calls of each process. */
  readonly processes: readonly (readonly SystemCall[])[];
}

export async function record(seed: number, env: Record<string, string> = {}): Promise<Recording> {
  await using folder = await dataFolder();
  const ledger = new Ledger();
  const random = new SeededRandom(seed);
  const processes: SystemCall[][] = [];
  for (let process = 0; process < 2; process += 1) {
    const trace = join(folder.path, `trace-${process}`);
    await runUnderLoad({ folder, trace, ledger, random, env });
    processes.push(await Array.fromAsync(readTrace(trace)));
  }
  return { ledger, root: folder.path, processes };
}

interface RecordedRun {
  readonly folder: DataFolder;
  readonly trace: string;
  readonly ledger: Ledger;
  readonly random: SeededRandom;
  readonly env: Record<string, string>;
}

async function runUnderLoad({ folder, trace, ledger, random, env }: RecordedRun): Promise<void> {
  const strace = ['strace', '-D', '-f', '--seccomp-bpf', '-q', '-xx', '-s', '67108864'];
  const calls = ['-e', `trace=${RECORDED_CALLS}`];
  await using gateway = await startGatewayProcess({
    data: join(folder.path, 'data'),
    args: ['--threads', '2'],
    env: { ...env, UV_USE_IO_URING: '0' },
    under: [...strace, ...calls, '-o', trace],
  });
  using visitor = new Gateway(gateway.url);
  const killed = new AbortController();
  const enough = ledger.acknowledged.length + ACKNOWLEDGED_PER_PROCESS;
  const write = async (writer: number, own: SeededRandom): Promise<void> => {
    while (!killed.signal.aborted) {
      const submission = randomSubmission(ledger, own, writer);
      if (own.chance(0.1)) await breakOff(visitor.base, submission, own);
      else (await ledger.submit(visitor, submission)).expect(201);
      if (ledger.acknowledged.length >= enough) return;
    }
  };
  const seeds = Array.from({ length: WRITERS }, () => random.below(2 ** 32));
  await Promise.all(seeds.map((seed, writer) => write(writer, new SeededRandom(seed))));
  killed.abort();
  await gateway.kill();
  // strace, in the background, writes on until it has seen the last thread end.
  const end = new RegExp(String.raw`^${gateway.pid} +\+\+\+ killed`, 'm');
  await until(
    () => readFile(trace, 'latin1'),
    (text) => end.test(text),
  );
}

/** Mostly small. One of the writers submits large entries only. */
function randomSubmission(ledger: Ledger, random: SeededRandom, writer: number): Submission {
  const keyed = random.chance(0.5);
  if (writer === 0) return ledger.newSubmission('garden', 66_000 + random.below(200_000), keyed);
  if (random.chance(0.1)) return ledger.newSubmission('resonance', 10, keyed);
  return ledger.newSubmission(random.chance(0.5) ? 'garden' : 'seeds', random.below(400), keyed);
}

/** Sends a part of a submission, or all of it, and does not wait for the answer. */
async function breakOff(base: URL, submission: Submission, random: SeededRandom): Promise<void> {
  const { kind, body, key } = submission;
  const length = Buffer.byteLength(body);
  const headers = [`Host: ${base.host}`, `Content-Length: ${length}`, 'Connection: close'];
  if (key !== undefined) headers.push(`Idempotency-Key: ${key}`);
  const request = `POST /api/${kind} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
  const socket = connect(Number(base.port), base.hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  const part = random.chance(0.5) ? request.length : random.below(request.length);
  await new Promise((resolve) => socket.write(request.slice(0, part), resolve));
  await pause(random.below(5));
  socket.destroy();
}
