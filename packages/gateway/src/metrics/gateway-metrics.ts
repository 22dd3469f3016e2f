/**
 * The metrics of a gateway: gives each thread the memory that it counts in, and prints what all of
 * them have counted, in the text format of Prometheus. `docs/operating.md` says what each means.
 *
 * Labels have few values: routes, methods, statuses, outcomes, rooms of the language file and
 * threads, and nothing that a visitor chooses.
 */
import { statfs } from 'node:fs/promises';

import { type State, STATES } from '@open-presence/protocol';
import { collectDefaultMetrics } from 'prom-client';

import manifest from '../../package.json' with { type: 'json' };
import { Families, type Read } from './families.ts';
import {
  abortedSamples,
  DURATION_BUCKETS,
  durationSamples,
  HttpMetrics,
  type HttpMetricsMemory,
  type HttpUsage,
  requestSamples,
  type RouteTotals,
} from './http-metrics.ts';
import {
  APPEND_OUTCOMES,
  BYTE_BUCKETS,
  ENTRY_BUCKETS,
  FLUSH_BUCKETS,
  StoreMetrics,
} from './store-metrics.ts';
import { allocateUsage, DELAY_BUCKETS, readUsage, type ThreadUsage } from './thread-usage.ts';

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
  /** Undefined until they have been looked through once. */
  readonly notices: () => Promise<
    | {
        readonly open: number;
        readonly bytes: number;
        /** When the oldest that is open came, in seconds since 1970. */
        readonly oldest: number | undefined;
      }
    | undefined
  >;
  /** How many visitors are here, by the slug of their room. */
  readonly visitors: () => ReadonlyMap<string | undefined, number>;
}

interface MeasuredLog {
  head(): number;
  indexWatermark(): number;
  searchWatermark(): number;
  withheld(): number;
  /** Only in a cluster. */
  copyLag():
    | {
        readonly messages: number;
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
  readonly #store = new StoreMetrics(this.#storeMemory);
  readonly #usages = new Map<string, SharedArrayBuffer>();
  readonly #http = new Map<string, HttpMetrics>();

  constructor(sources: GaugeSources) {
    this.#sources = sources;
    this.#addProcess();
    this.#addGateway();
    this.#addRequests();
    this.#addOpen();
    this.#addCommits();
    this.#addLog();
    this.#addThreads();
  }

  get contentType(): string {
    return this.#families.registry.contentType;
  }

  /** In the text format of Prometheus. */
  async print(): Promise<string> {
    return await this.#families.registry.metrics();
  }

  /** The memory of a thread of the store. */
  addStoreThread(thread: string): { usage: SharedArrayBuffer; store: SharedArrayBuffer } {
    return { usage: this.#addUsage(thread), store: this.#storeMemory };
  }

  /** The memory of a thread that serves HTTP. */
  addHttpThread(thread: string, routes: HttpMetricsMemory['routes']): HttpMetricsMemory {
    const http = HttpMetrics.allocate(routes);
    this.#http.set(thread, new HttpMetrics(http, routes));
    return { usage: this.#addUsage(thread), http, routes };
  }

  #addUsage(thread: string): SharedArrayBuffer {
    const usage = allocateUsage();
    this.#usages.set(thread, usage);
    return usage;
  }

  /** Adds prom-client's metrics of the process, without those of this thread alone. */
  #addProcess(): void {
    const { registry } = this.#families;
    collectDefaultMetrics({ register: registry });
    for (const { name } of registry.getMetricsAsArray())
      if (!name.startsWith('process_')) registry.removeSingleMetric(name);
  }

  #addGateway(): void {
    const families = this.#families;
    const { folder, format, nodeVersion = '', state, visitors, notices } = this.#sources;
    const build = { version: manifest.version, node: nodeVersion, format: String(format) };
    families.gauge('presence_build_info', 'Always 1: what runs, and the format of its log.', () => [
      [build, 1],
    ]);
    families.gauge(
      'presence_state',
      '1 for the state that the gateway is in, 0 for the others.',
      () => STATES.map((one) => [{ state: one }, Number(one === state())]),
    );
    families.gauge('presence_visitors', 'Visitors who are here now, by room.', () =>
      visitors()
        .entries()
        .map(([room = '', count]) => [{ room }, count]),
    );
    families.gauge(
      'presence_disk_free_bytes',
      'Bytes that the gateway may still write to the file system of its data folder.',
      () => diskBytes(folder, 'bavail'),
    );
    families.gauge('presence_disk_size_bytes', 'Size of the file system of the data folder.', () =>
      diskBytes(folder, 'blocks'),
    );
    families.gauge(
      'presence_notices_open',
      'Notices to the operator that are not closed.',
      async () => (await notices())?.open,
    );
    families.gauge(
      'presence_notices_oldest_timestamp_seconds',
      'When the oldest open notice came. Missing where none is open.',
      async () => (await notices())?.oldest,
    );
    families.gauge(
      'presence_notices_bytes',
      'Bytes of all notices in the data folder.',
      async () => (await notices())?.bytes,
    );
  }

  #addRequests(): void {
    const families = this.#families;
    const totals = (): Iterable<RouteTotals> => HttpMetrics.totals([...this.#http.values()]);
    families.counter(
      'presence_http_requests_total',
      'Requests whose response has ended; 499: the caller left before a status was sent.',
      () => requestSamples(totals()),
    );
    families.counter(
      'presence_http_requests_aborted_total',
      'Requests whose caller left before the end of the response. Readers end streams so.',
      () => abortedSamples(totals()),
    );
    families.histogram(
      'presence_http_request_duration_seconds',
      'From the head of a request until its response has ended, at the pace of its caller. Without event streams.',
      DURATION_BUCKETS,
      () => durationSamples(totals()),
    );
  }

  #addOpen(): void {
    const families = this.#families;
    const byThread =
      (name: keyof HttpUsage): Read<number> =>
      () =>
        this.#http.entries().map(([thread, { usage }]) => [{ thread }, usage[name]]);
    families.gauge('presence_http_connections', 'Open connections.', byThread('connections'));
    families.gauge('presence_streams', 'Open event streams.', byThread('streams'));
    families.gauge(
      'presence_stalled_streams',
      'Event streams whose reader has not taken what was written.',
      byThread('stalledStreams'),
    );
    families.counter(
      'presence_http_received_bytes_total',
      'Bytes that visitors have sent, with headers.',
      byThread('bytesRead'),
    );
    families.counter(
      'presence_http_sent_bytes_total',
      'Bytes that visitors were sent, with headers.',
      byThread('bytesWritten'),
    );
  }

  #addCommits(): void {
    const families = this.#families;
    const store = this.#store;
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
    families.histogram(
      'presence_commit_entries',
      'Entries of a commit.',
      ENTRY_BUCKETS,
      () => store.commitEntries,
    );
    families.histogram(
      'presence_commit_bytes',
      'Bytes of what visitors said in the entries of a commit.',
      BYTE_BUCKETS,
      () => store.commitBytes,
    );
  }

  #addLog(): void {
    const families = this.#families;
    const { log } = this.#sources;
    const lag = (reached: (log: MeasuredLog) => number): number | undefined => {
      const measured = log();
      return measured && Math.max(0, measured.head() - reached(measured));
    };
    families.gauge('presence_log_entries', 'Entries of the log.', () => log()?.head());
    families.gauge('presence_index_lag_entries', 'Entries that are not in the index yet.', () =>
      lag((measured) => measured.indexWatermark()),
    );
    families.gauge(
      'presence_search_lag_entries',
      'Entries that cannot be found by their words yet.',
      () => lag((measured) => measured.searchWatermark()),
    );
    families.gauge(
      'presence_copy_lag_messages',
      'In a cluster: messages of the stream that this copy lacks.',
      () => log()?.copyLag()?.messages,
    );
    families.gauge(
      'presence_copy_lag_seconds',
      'In a cluster: how long ago this copy was last known to have all of the stream.',
      () => log()?.copyLag()?.seconds,
    );
    families.gauge(
      'presence_stream_takes_messages',
      'In a cluster: 1 while the stream takes what is said at this gateway, else 0.',
      () => {
        const copyLag = log()?.copyLag();
        return copyLag && Number(copyLag.takesMessages);
      },
    );
    families.gauge(
      'presence_stream_missing_servers',
      'In a cluster: servers that do not have all of the stream, as of their last answer.',
      () => log()?.copyLag()?.missingServers,
    );
    families.gauge('presence_withheld_entries', 'Entries whose text was withheld.', () =>
      log()?.withheld(),
    );
  }

  #addThreads(): void {
    const families = this.#families;
    const byThread =
      <Value>(value: (usage: ThreadUsage) => Value): Read<Value> =>
      () =>
        this.#usages.entries().map(([thread, memory]) => [{ thread }, value(readUsage(memory))]);
    families.gauge(
      'presence_thread_heap_bytes',
      'JavaScript objects of a thread, and garbage that is not collected yet.',
      byThread(({ heap }) => heap),
    );
    families.gauge(
      'presence_thread_external_bytes',
      'Memory outside of the heap that objects of a thread own: buffers, mostly.',
      byThread(({ external }) => external),
    );
    families.counter(
      'presence_thread_busy_seconds_total',
      'For how long a thread has not waited for events.',
      byThread(({ busy }) => busy),
    );
    families.histogram(
      'presence_event_loop_delay_seconds',
      'By how much a timer of 50 ms was late, by thread.',
      DELAY_BUCKETS,
      byThread(({ delay }) => delay),
    );
  }
}

/** Undefined while the folder is still to be created, or was removed. */
async function diskBytes(folder: string, blocks: 'bavail' | 'blocks'): Promise<number | undefined> {
  try {
    const disk = await statfs(folder);
    return disk[blocks] * disk.bsize;
  } catch {
    return undefined;
  }
}
