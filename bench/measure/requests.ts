/** Requests to a server as fast as it answers, and the CPU time that one takes. */
import type { BenchContext } from '../options.ts';
import { runWrk, type WrkOptions, type WrkResult } from '../clients/wrk.ts';
import { cpuOf } from './cpu.ts';

export interface Server {
  /** Its processes; those that they start count with them. */
  readonly pids: readonly number[];
  /** Resolves when it has done what the requests leave for later, which counts as well. */
  readonly drain?: () => Promise<void>;
}

export interface Round extends WrkResult {
  /** CPU time of the server for a request, in µs. */
  readonly cpu: number;
}

export async function measureRequests(
  bench: BenchContext,
  { pids, drain }: Server,
  options: WrkOptions,
): Promise<Round> {
  const cpu = (): number => pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  const before = cpu();
  const result = await runWrk(bench, options);
  await drain?.();
  return { ...result, cpu: ((cpu() - before) * 1e6) / result.responses };
}
