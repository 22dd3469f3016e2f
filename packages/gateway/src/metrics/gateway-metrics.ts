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
import { Families, type Samples } from './families.ts';
import {
  abortedSamples,
  DURATION_BUCKETS,
  durationSamples,
  HttpMetrics,
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
  readonly log: () => LogGauges | undefined;
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

export interface LogGauges {
  readonly head: number;
  readonly indexed: number;
  readonly searched: number;
  readonly unreadable: number;
  readonly withheld: number;
  /** Only in a cluster. */
  readonly copyLag:
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
    this.#addStore();
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

  /** The memory of a thread that serves HTTP. `routes`: the paths that requests may have, for all threads the same. */
  addHttpThread(
    thread: string,
    routes: readonly string[],
  ): { usage: SharedArrayBuffer; http: SharedArrayBuffer; routes: readonly string[] } {
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
    collectDefaultMetrics({ register: this.#families.registry });
    for (const { name } of this.#families.registry.getMetricsAsArray())
      if (!name.startsWith('process_')) this.#families.registry.removeSingleMetric(name);
  }

  #addGateway(): void {
    const families = this.#families;
    const { folder, format, nodeVersion = '' } = this.#sources;
    const build = {
      version: manifest.version,
      node: nodeVersion,
      format: String(format),
    };
    families.gauge('presence_build_info', 'Always 1: what runs, and the format of its log.', {
      labels: Object.keys(build),
      read: () => [[build, 1]],
    });
    families.gauge('presence_state', '1 for the state that the gateway is in, 0 for the others.', {
      labels: ['state'],
      read: () => STATES.map((state) => [{ state }, Number(state === this.#sources.state())]),
    });
    families.gauge('presence_visitors', 'Visitors who are here now, by room.', {
      labels: ['room'],
      read: () => [...this.#sources.visitors()].map(([room = '', count]) => [{ room }, count]),
    });
    families.gauge(
      'presence_disk_free_bytes',
      'Bytes that the gateway may still write to the file system of its data folder.',
      single(() => diskBytes(folder, 'bavail')),
    );
    families.gauge(
      'presence_disk_size_bytes',
      'Size of the file system of the data folder.',
      single(() => diskBytes(folder, 'blocks')),
    );
    const { notices } = this.#sources;
    families.gauge(
      'presence_notices_open',
      'Notices to the operator that are not closed.',
      single(async () => (await notices())?.open),
    );
    families.gauge(
      'presence_notices_oldest_timestamp_seconds',
      'When the oldest open notice came. Missing where none is open.',
      single(async () => (await notices())?.oldest),
    );
    families.gauge(
      'presence_notices_bytes',
      'Bytes of all notices in the data folder.',
      single(async () => (await notices())?.bytes),
    );
  }

  #addRequests(): void {
    const families = this.#families;
    families.counter(
      'presence_http_requests_total',
      'Requests whose response has ended; 499: the caller left before a status was sent.',
      { labels: ['method', 'route', 'status'], read: () => requestSamples(this.#routeTotals()) },
    );
    families.counter(
      'presence_http_requests_aborted_total',
      'Requests whose caller left before the end of the response. Readers end streams so.',
      { labels: ['method', 'route'], read: () => abortedSamples(this.#routeTotals()) },
    );
    families.histogram(
      'presence_http_request_duration_seconds',
      'From the head of a request until its response has ended, at the pace of its caller. Without event streams.',
      DURATION_BUCKETS,
      { labels: ['method', 'route'], read: () => durationSamples(this.#routeTotals()) },
    );
  }

  #addOpen(): void {
    const families = this.#families;
    const byThread = (name: keyof HttpUsage): Samples<number> => ({
      labels: ['thread'],
      read: () => [...this.#http].map(([thread, { usage }]) => [{ thread }, usage[name]]),
    });
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

  #addStore(): void {
    const families = this.#families;
    const store = this.#store;
    families.counter(
      'presence_appends_total',
      'Contributions that reached the log, by what became of them.',
      {
        labels: ['outcome'],
        read: () => APPEND_OUTCOMES.map((outcome) => [{ outcome }, store.appends(outcome)]),
      },
    );
    families.histogram(
      'presence_commit_flush_seconds',
      'How long commits of entries took to be written and flushed.',
      FLUSH_BUCKETS,
      single(() => store.flushes),
    );
    families.histogram(
      'presence_commit_entries',
      'Entries of a commit.',
      ENTRY_BUCKETS,
      single(() => store.commitEntries),
    );
    families.histogram(
      'presence_commit_bytes',
      'Bytes of what visitors said in the entries of a commit.',
      BYTE_BUCKETS,
      single(() => store.commitBytes),
    );
    const ofLog = (value: (log: LogGauges) => number | undefined): Samples<number> =>
      single(() => {
        const log = this.#sources.log();
        return log && value(log);
      });
    families.gauge(
      'presence_log_entries',
      'Entries of the log.',
      ofLog(({ head }) => head),
    );
    families.gauge(
      'presence_index_lag_entries',
      'Entries that are not in the index yet.',
      ofLog(({ head, indexed }) => Math.max(0, head - indexed)),
    );
    families.gauge(
      'presence_search_lag_entries',
      'Entries that cannot be found by their words yet.',
      ofLog(({ head, searched }) => Math.max(0, head - searched)),
    );
    families.gauge(
      'presence_copy_lag_messages',
      'In a cluster: messages of the stream that this copy lacks.',
      ofLog(({ copyLag }) => copyLag?.messages),
    );
    families.gauge(
      'presence_copy_lag_seconds',
      'In a cluster: how long ago this copy was last known to have all of the stream.',
      ofLog(({ copyLag }) => copyLag?.seconds),
    );
    families.gauge(
      'presence_stream_takes_messages',
      'In a cluster: 1 while the stream takes what is said at this gateway, else 0.',
      ofLog(({ copyLag }) => copyLag && Number(copyLag.takesMessages)),
    );
    families.gauge(
      'presence_stream_missing_servers',
      'In a cluster: servers that do not have all of the stream, as of their last answer.',
      ofLog(({ copyLag }) => copyLag?.missingServers),
    );
    families.gauge(
      'presence_unreadable_entries',
      'Entries that are known to be unreadable.',
      ofLog(({ unreadable }) => unreadable),
    );
    families.gauge(
      'presence_withheld_entries',
      'Entries whose text was withheld.',
      ofLog(({ withheld }) => withheld),
    );
    families.gauge(
      'presence_scrubber_verified_entries',
      'Entries that were verified in the background in this pass.',
      single(() => store.scrub.at),
    );
    families.gauge(
      'presence_scrubber_last_pass_timestamp_seconds',
      'When all entries were last verified in the background; 0: not yet.',
      single(() => store.scrub.completed),
    );
  }

  #addThreads(): void {
    const families = this.#families;
    const byThread = <Value>(value: (usage: ThreadUsage) => Value): Samples<Value> => ({
      labels: ['thread'],
      read: () =>
        [...this.#usages].map(([thread, memory]) => [{ thread }, value(readUsage(memory))]),
    });
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

  #routeTotals(): Iterable<RouteTotals> {
    return HttpMetrics.totals([...this.#http.values()]);
  }
}

/** One value without labels. */
function single<Value>(
  value: () => Value | undefined | Promise<Value | undefined>,
): Samples<Value> {
  return {
    async read() {
      const found = await value();
      return found === undefined ? [] : [[{}, found]];
    },
  };
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
