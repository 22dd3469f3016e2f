/** Facts about the machine on which the figures depend. */
import { statfs } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';

import type { BenchContext } from '../options.ts';

const TMPFS = 0x01021994;

export async function describeMachine(bench: BenchContext): Promise<string> {
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const load = loadavg()[0] ?? 0;
  const facts = [
    `${cores.length} × ${cores[0]?.model ?? 'unknown'}, ${memory}, Linux ${release()}, Node.js ${process.version}`,
    `load average at the start ${load.toFixed(2)}; data in ${bench.scratch}${bench.quick ? '; QUICK: the figures mean nothing' : ''}`,
  ];
  if (load > 0.5) facts.push('Warning: the machine is busy with something else.');
  if ((await statfs(bench.scratch)).type === TMPFS) {
    facts.push('Warning: data is kept in memory there, flushing it costs nothing. See --scratch.');
  }
  return facts.join('\n');
}
