/** Memory: idle, with a text of gigabytes coming in, and with a caller who reads slowly. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Bench } from '../bench.ts';
import { run } from '../children.ts';
import { emptyFolder, requireSpace, seededFolder } from '../folders.ts';
import { startGateway } from '../gateway.ts';
import { ask } from '../http.ts';
import { percentile } from '../rounds.ts';
import { growthDuring, rssOf } from '../rss.ts';
import { saidBy } from '../said.ts';
import { readSlowly } from '../slow.ts';
import { fact, mebibytes, memory as amount, type Line } from '../table.ts';
import { posts, visitDuring, type Question, type Visit } from '../visitor.ts';

interface Told {
  readonly location: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly seconds: number;
}

const IDLE = { bytes: 100e6, text: '100 MB' };
const GIANT = { bytes: 64 * 2 ** 20, text: '64 MiB' };
const GIANT_BYTES = 4 * 2 ** 30;
const GIANT_BYTES_WHEN_QUICK = 600 * 2 ** 20;
const LISTED = 1_000_000;
const GIANT_VISITOR = fileURLToPath(import.meta.resolve('../giant.ts'));

export async function memory(bench: Bench): Promise<Line[]> {
  return [...(await idle(bench)), ...(await giant(bench)), ...(await slowCaller(bench))];
}

async function idle(bench: Bench): Promise<Line[]> {
  bench.note('idle');
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  await sleep(bench.quick ? 3000 : 10_000, undefined, { signal: bench.signal });
  const rss = rssOf(gateway.pid);
  return [
    amount('memory, idle', rss.all, IDLE),
    amount('  of it belonging to no file', rss.anonymous),
  ];
}

async function giant(bench: Bench): Promise<Line[]> {
  const size = bench.quick ? GIANT_BYTES_WHEN_QUICK : GIANT_BYTES;
  const name = size >= 2 ** 30 ? `${size / 2 ** 30} GiB` : `${size / 2 ** 20} MiB`;
  await requireSpace(bench, 2.5 * size);
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  const { url, pid } = gateway;
  const plan = { everyMs: 20, next: smallQuestions() };
  const visitDuringSending = (work: () => Promise<Told>): ReturnType<typeof visitDuring<Told>> =>
    visitDuring(url, plan, work);

  bench.note('small requests alone');
  const calm = await visitDuring(url, plan, () =>
    sleep(bench.quick ? 2000 : 5000, undefined, { signal: bench.signal }),
  );
  bench.note(`a text of ${name}`);
  const sending = await growthDuring(pid, () =>
    visitDuringSending(() => tell(bench, ['send', `${url}/api/garden`, String(size)])),
  );
  bench.note('reading it back');
  const sent = sending.result.result;
  const reading = await growthDuring(pid, () =>
    visitDuringSending(() => tell(bench, ['read', url + sent.location])),
  );
  const got = reading.result.result;
  if (got.sha256 !== sent.sha256 || got.bytes !== sent.bytes) {
    throw new Error(
      `Not what was said: ${JSON.stringify(sent)} came back as ${JSON.stringify(got)}`,
    );
  }
  const pace = (told: Told): string => `${Math.round(told.bytes / 1e6 / told.seconds)} MB/s`;
  const alone = waits(calm.visit);
  return [
    amount(`memory, growth with a text of ${name} coming in`, sending.growth.all, GIANT),
    amount('  of it belonging to no file', sending.growth.anonymous),
    fact('  waits of another visitor meanwhile; before it', waits(sending.result.visit), alone),
    fact('  pace; SHA-256 of what was read back', `${pace(sent)}; the same`),
    amount('memory, growth while it is read back', reading.growth.all),
    fact('  waits of another visitor meanwhile', waits(reading.result.visit), alone),
    fact('  pace', pace(got)),
  ];
}

async function tell(bench: Bench, args: readonly string[]): Promise<Told> {
  const said = saidBy(await run(bench, [process.execPath, GIANT_VISITOR, ...args]));
  return {
    location: said.text('location'),
    bytes: said.number('bytes'),
    sha256: said.text('sha256'),
    seconds: said.number('seconds'),
  };
}

/** Whispers left and read by turns: the giant is in the garden, and not in this listing. */
function smallQuestions(): Question {
  const next = posts('/api/shepit');
  let reads = false;
  return () => {
    reads = !reads;
    return reads ? { path: '/api/shepit?limit=5' } : next();
  };
}

function waits({ latencies, ownDelay }: Visit): string {
  const [middle, most, longest] = [0.5, 0.99, 1].map((share) =>
    percentile(latencies, share).toFixed(0),
  );
  return `p50 ${middle}, p99 ${most}, longest ${longest} ms (own delay ${ownDelay.toFixed(0)} ms)`;
}

async function slowCaller(bench: Bench): Promise<Line[]> {
  const seconds = bench.quick ? 5 : 20;
  const folder = await seededFolder(bench, LISTED);
  await using gateway = await startGateway(bench, folder);
  // What the first answers cost is no cost of a slow reader.
  for (let count = 0; count < 50; count += 1) await ask(`${gateway.url}/api/garden?limit=50`);
  await sleep(2000, undefined, { signal: bench.signal });
  bench.note('a caller who reads a listing of 1 million entries at 1 MiB/s');
  const pace = { bytesPerSecond: 2 ** 20, seconds };
  const { growth, result } = await growthDuring(gateway.pid, () =>
    readSlowly(bench, `${gateway.url}/api/garden`, pace),
  );
  if (result < 0.8 * seconds * pace.bytesPerSecond) {
    throw new Error(`Cannot read 1 MiB/s: got ${mebibytes(result)} in ${seconds} s`);
  }
  return [
    amount('memory, growth with a slow reader of 1 million entries', growth.all),
    amount('  of it belonging to no file', growth.anonymous),
  ];
}
