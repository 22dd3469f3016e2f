/**
 * The metrics of a gateway: gives each thread the memory that it counts in, and prints what all of
 * them have counted, in the text format of Prometheus. `docs/operating.md` says what each means.
 *
 * Labels have few values: routes, methods, statuses, outcomes and threads, and nothing that a visitor
 * chooses.
 */
import { readdir, readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
// oxlint-disable-next-line no-restricted-imports -- It asks what the process uses, and changes nothing.
import { cpuUsage, memoryUsage } from 'node:process';

import { type State, STATES } from '@open-presence/protocol';

import manifest from '../../package.json' with { type: 'json' };
import { Families } from './families.ts';
import { DURATION_BUCKETS, HttpMetrics, type HttpMetricsMemory } from './http-metrics.ts';
import { APPEND_OUTCOMES, FLUSH_BUCKETS, StoreMetrics } from './store-metrics.ts';
import { allocateUsage, readBusySeconds } from './thread-usage.ts';

/** What is asked when metrics are. */
export interface GaugeSources {
  /** The data folder. */
  readonly folder: string;
  /** Of the log. */
  readonly format: number;
  readonly nodeVersion: string | undefined;
  readonly state: () => State;
  /** Undefined until the log is open. */
  readonly log: () => MeasuredLog | undefined;
  /** `oldest`: when the oldest that is open came, in seconds since 1970. */
  readonly notices: () => Promise<{ readonly open: number; readonly oldest: number | undefined }>;
  /** How many visitors are here. */
  readonly visitors: () => number;
}

interface MeasuredLog {
  head(): number;
  indexWatermark(): number;
  /** Only in a cluster. */
  copyLag():
    | {
        readonly seconds: number;
        readonly takesMessages: boolean;
        readonly missingServers: number;
      }
    | undefined;
}

export class GatewayMetrics {
  readonly #families = new Families();
  readonly #sources: GaugeSources;
  readonly #storeMemory = StoreMetrics.allocate();
  readonly #usages = new Map<string, SharedArrayBuffer>();
  readonly #http: HttpMetrics[] = [];

  constructor(sources: GaugeSources) {
    this.#sources = sources;
    this.#addProcess();
    this.#addGateway();
    this.#addFolder();
    this.#addVisits();
    this.#addLog();
    this.#addCluster();
  }

  /** In the text format of Prometheus. */
  async print(): Promise<string> {
    return await this.#families.print();
  }

  /** The memory of a thread of the store. */
  addStoreThread(thread: string): { usage: SharedArrayBuffer; store: SharedArrayBuffer } {
    return { usage: this.#addUsage(thread), store: this.#storeMemory };
  }

  /** The memory of a thread that serves HTTP. */
  addHttpThread(thread: string, routes: HttpMetricsMemory['routes']): HttpMetricsMemory {
    const http = HttpMetrics.allocate(routes);
    this.#http.push(new HttpMetrics(http, routes));
    return { usage: this.#addUsage(thread), http, routes };
  }

  #addUsage(thread: string): SharedArrayBuffer {
    const usage = allocateUsage();
    this.#usages.set(thread, usage);
    return usage;
  }

  /** By the names that all programs use. */
  #addProcess(): void {
    const families = this.#families;
    families.counter('process_cpu_seconds_total', 'CPU time of the process.', () => {
      const { user, system } = cpuUsage();
      return (user + system) / 1e6;
    });
    families.gauge('process_resident_memory_bytes', 'Memory of the process.', () =>
      memoryUsage.rss(),
    );
    families.gauge('process_start_time_seconds', 'When the process was started.', () =>
      Math.round(performance.timeOrigin / 1000),
    );
    families.gauge('process_open_fds', 'Open descriptors. On Linux alone.', async () => {
      const names = await readdir('/proc/self/fd').catch(() => undefined);
      return names?.length;
    });
    families.gauge('process_max_fds', 'How many may be open. On Linux alone.', async () => {
      const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '');
      const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
      return limit === undefined ? undefined : Number(limit);
    });
  }

  #addGateway(): void {
    const families = this.#families;
    const { format, nodeVersion = '', state } = this.#sources;
    const build = { version: manifest.version, node: nodeVersion, format: String(format) };
    families.gauge('presence_build_info', 'Always 1: what runs, and the format of its log.', () => [
      [build, 1],
    ]);
    families.gauge(
      'presence_state',
      '1 for the state that the gateway is in, 0 for the others.',
      () => STATES.map((one) => [{ state: one }, Number(one === state())]),
    );
    families.counter(
      'presence_thread_busy_seconds_total',
      'For how long a thread has not waited for events.',
      () => this.#usages.entries().map(([thread, memory]) => [{ thread }, readBusySeconds(memory)]),
    );
  }

  #addFolder(): void {
    const families = this.#families;
    const { folder, notices } = this.#sources;
    families.gauge(
      'presence_disk_free_bytes',
      'Bytes that the gateway may still write to the file system of its data folder.',
      () => freeBytes(folder),
    );
    families.gauge(
      'presence_backup_last_timestamp_seconds',
      'When the newest backup began. Missing where there is none.',
      () => lastBackup(folder),
    );
    families.gauge(
      'presence_notices_open',
      'Notices to the operator that are not closed.',
      async () => (await notices()).open,
    );
    families.gauge(
      'presence_notices_oldest_timestamp_seconds',
      'When the oldest open notice came. Missing where none is open.',
      async () => (await notices()).oldest,
    );
  }

  #addVisits(): void {
    const families = this.#families;
    families.counter(
      'presence_http_requests_total',
      'Requests whose response has ended; 499: the caller left before a status was sent.',
      () => HttpMetrics.sum(this.#http).requests(),
    );
    families.histogram(
      'presence_http_request_duration_seconds',
      'From the head of a request until its response has ended, at the pace of its caller. Without event streams.',
      DURATION_BUCKETS,
      () => HttpMetrics.sum(this.#http).durations,
    );
    families.gauge('presence_streams', 'Open event streams.', () =>
      this.#http.reduce((sum, { streams }) => sum + streams, 0),
    );
    families.gauge('presence_visitors', 'Visitors who are here now.', this.#sources.visitors);
  }

  #addLog(): void {
    const families = this.#families;
    const { log } = this.#sources;
    const store = new StoreMetrics(this.#storeMemory);
    families.gauge('presence_log_entries', 'Entries of the log.', () => log()?.head());
    families.gauge('presence_index_lag_entries', 'Entries that are not in the index yet.', () => {
      const measured = log();
      return measured && Math.max(0, measured.head() - measured.indexWatermark());
    });
    families.counter(
      'presence_appends_total',
      'Contributions that reached the log, by what became of them.',
      () => APPEND_OUTCOMES.map((outcome) => [{ outcome }, store.appends(outcome)]),
    );
    families.histogram(
      'presence_commit_flush_seconds',
      'How long commits of entries took to be written and flushed.',
      FLUSH_BUCKETS,
      () => store.flushes,
    );
  }

  #addCluster(): void {
    const families = this.#families;
    const lag = (): ReturnType<MeasuredLog['copyLag']> => this.#sources.log()?.copyLag();
    families.gauge(
      'presence_copy_lag_seconds',
      'In a cluster: how long ago this copy was last known to have all of the stream.',
      () => lag()?.seconds,
    );
    families.gauge(
      'presence_stream_takes_messages',
      'In a cluster: 1 while the stream takes what is said at this gateway, else 0.',
      () => {
        const takes = lag()?.takesMessages;
        return takes === undefined ? undefined : Number(takes);
      },
    );
    families.gauge(
      'presence_stream_missing_servers',
      'In a cluster: servers that do not have all of the stream, or most of them where none answers for it.',
      () => lag()?.missingServers,
    );
  }
}

/** Undefined while the folder is still to be created, or was removed. */
async function freeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** In seconds since 1970. `presence backup` writes the file once it is done. */
async function lastBackup(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'last-backup'), 'utf8').catch(() => '');
  const time = Date.parse(text.trim());
  return Number.isNaN(time) ? undefined : time / 1000;
}
