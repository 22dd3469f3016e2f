/**
 * The metrics of a gateway: gives each thread the memory that it counts in, and prints what all of
 * them have counted, in the text format of Prometheus. `docs/operating.md` says what each means.
 *
 * Labels have few values: routes, methods, statuses, outcomes, rooms of the language file and
 * threads, and nothing that a visitor chooses.
 */
import { statfs } from 'node:fs/promises';

import { type State, STATES } from '@open-presence/protocol';
import { collectDefaultMetrics, Registry } from 'prom-client';

import { addCounter, addGauge, addHistogram, type Samples } from './families.ts';
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
  readonly state: () => State;
  /** Undefined until the log is open. */
  readonly log: () => LogGauges | undefined;
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
  readonly copyLag: { readonly messages: number; readonly seconds: number } | undefined;
}

export class GatewayMetrics {
  readonly #registry = new Registry();
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
    return this.#registry.contentType;
  }

  /** In the text format of Prometheus. */
  async print(): Promise<string> {
    return await this.#registry.metrics();
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
    collectDefaultMetrics({ register: this.#registry });
    for (const { name } of this.#registry.getMetricsAsArray())
      if (!name.startsWith('process_')) this.#registry.removeSingleMetric(name);
  }

  #addGateway(): void {
    const registry = this.#registry;
    const { folder } = this.#sources;
    addGauge(registry, {
      name: 'presence_state',
      help: '1 for the state that the gateway is in, 0 for the others.',
      labels: ['state'],
      read: () => STATES.map((state) => [{ state }, Number(state === this.#sources.state())]),
    });
    addGauge(registry, {
      name: 'presence_visitors',
      help: 'Visitors who are here now, by room.',
      labels: ['room'],
      read: () => [...this.#sources.visitors()].map(([room = '', count]) => [{ room }, count]),
    });
    addGauge(registry, {
      name: 'presence_disk_free_bytes',
      help: 'Bytes that the gateway may still write to the file system of its data folder.',
      read: () => diskSamples(folder, 'bavail'),
    });
    addGauge(registry, {
      name: 'presence_disk_size_bytes',
      help: 'Size of the file system of the data folder.',
      read: () => diskSamples(folder, 'blocks'),
    });
  }

  #addRequests(): void {
    const registry = this.#registry;
    addCounter(registry, {
      name: 'presence_http_requests_total',
      help: 'Requests whose response has ended; 499: the caller left before a status was sent.',
      labels: ['method', 'route', 'status'],
      read: () => requestSamples(this.#routeTotals()),
    });
    addCounter(registry, {
      name: 'presence_http_requests_aborted_total',
      help: 'Requests whose caller left before the end of the response. Readers end streams so.',
      labels: ['method', 'route'],
      read: () => abortedSamples(this.#routeTotals()),
    });
    addHistogram(registry, {
      name: 'presence_http_request_duration_seconds',
      help: 'From the head of a request until its response has ended, at the pace of its caller. Without event streams.',
      labels: ['method', 'route'],
      buckets: DURATION_BUCKETS,
      read: () => durationSamples(this.#routeTotals()),
    });
  }

  #addOpen(): void {
    const registry = this.#registry;
    const byThread = (name: keyof HttpUsage) => (): Samples<number> =>
      [...this.#http].map(([thread, { usage }]) => [{ thread }, usage[name]]);
    const labels = ['thread'];
    addGauge(registry, {
      name: 'presence_http_connections',
      help: 'Open connections.',
      labels,
      read: byThread('connections'),
    });
    addGauge(registry, {
      name: 'presence_streams',
      help: 'Open event streams.',
      labels,
      read: byThread('streams'),
    });
    addGauge(registry, {
      name: 'presence_stalled_streams',
      help: 'Event streams whose reader has not taken what was written.',
      labels,
      read: byThread('stalledStreams'),
    });
    addCounter(registry, {
      name: 'presence_http_received_bytes_total',
      help: 'Bytes that visitors have sent, with headers.',
      labels,
      read: byThread('bytesRead'),
    });
    addCounter(registry, {
      name: 'presence_http_sent_bytes_total',
      help: 'Bytes that visitors were sent, with headers.',
      labels,
      read: byThread('bytesWritten'),
    });
  }

  #addStore(): void {
    const registry = this.#registry;
    const store = this.#store;
    addCounter(registry, {
      name: 'presence_appends_total',
      help: 'Contributions that reached the log, by what became of them.',
      labels: ['outcome'],
      read: () => APPEND_OUTCOMES.map((outcome) => [{ outcome }, store.appends(outcome)]),
    });
    addHistogram(registry, {
      name: 'presence_commit_flush_seconds',
      help: 'How long commits of entries took to be written and flushed.',
      buckets: FLUSH_BUCKETS,
      read: () => [[{}, store.flushes]],
    });
    addHistogram(registry, {
      name: 'presence_commit_entries',
      help: 'Entries of a commit.',
      buckets: ENTRY_BUCKETS,
      read: () => [[{}, store.commitEntries]],
    });
    addHistogram(registry, {
      name: 'presence_commit_bytes',
      help: 'Bytes of what visitors said in the entries of a commit.',
      buckets: BYTE_BUCKETS,
      read: () => [[{}, store.commitBytes]],
    });
    const ofLog = (value: (log: LogGauges) => number | undefined) => (): Samples<number> => {
      const log = this.#sources.log();
      const found = log && value(log);
      return found === undefined ? [] : [[{}, found]];
    };
    addGauge(registry, {
      name: 'presence_log_entries',
      help: 'Entries of the log.',
      read: ofLog(({ head }) => head),
    });
    addGauge(registry, {
      name: 'presence_index_lag_entries',
      help: 'Entries that are not in the index yet.',
      read: ofLog(({ head, indexed }) => Math.max(0, head - indexed)),
    });
    addGauge(registry, {
      name: 'presence_search_lag_entries',
      help: 'Entries that cannot be found by their words yet.',
      read: ofLog(({ head, searched }) => Math.max(0, head - searched)),
    });
    addGauge(registry, {
      name: 'presence_copy_lag_messages',
      help: 'In a cluster: messages of the stream that this copy lacks.',
      read: ofLog(({ copyLag }) => copyLag?.messages),
    });
    addGauge(registry, {
      name: 'presence_copy_lag_seconds',
      help: 'In a cluster: how long ago this copy was last known to have all of the stream.',
      read: ofLog(({ copyLag }) => copyLag?.seconds),
    });
    addGauge(registry, {
      name: 'presence_unreadable_entries',
      help: 'Entries that are known to be unreadable.',
      read: ofLog(({ unreadable }) => unreadable),
    });
    addGauge(registry, {
      name: 'presence_withheld_entries',
      help: 'Entries whose text was withheld.',
      read: ofLog(({ withheld }) => withheld),
    });
    addGauge(registry, {
      name: 'presence_scrubber_verified_entries',
      help: 'Entries that were verified in the background in this pass.',
      read: () => [[{}, store.scrub.at]],
    });
    addGauge(registry, {
      name: 'presence_scrubber_last_pass_timestamp_seconds',
      help: 'When all entries were last verified in the background; 0: not yet.',
      read: () => [[{}, store.scrub.completed]],
    });
  }

  #addThreads(): void {
    const registry = this.#registry;
    const byThread =
      <Value>(value: (usage: ThreadUsage) => Value) =>
      (): Samples<Value> =>
        [...this.#usages].map(([thread, memory]) => [{ thread }, value(readUsage(memory))]);
    const labels = ['thread'];
    addGauge(registry, {
      name: 'presence_thread_heap_bytes',
      help: 'JavaScript objects of a thread, and garbage that is not collected yet.',
      labels,
      read: byThread(({ heap }) => heap),
    });
    addGauge(registry, {
      name: 'presence_thread_external_bytes',
      help: 'Memory outside of the heap that objects of a thread own: buffers, mostly.',
      labels,
      read: byThread(({ external }) => external),
    });
    addCounter(registry, {
      name: 'presence_thread_busy_seconds_total',
      help: 'For how long a thread has not waited for events.',
      labels,
      read: byThread(({ busy }) => busy),
    });
    addHistogram(registry, {
      name: 'presence_event_loop_delay_seconds',
      help: 'By how much a timer of 50 ms was late, by thread.',
      labels,
      buckets: DELAY_BUCKETS,
      read: byThread(({ delay }) => delay),
    });
  }

  #routeTotals(): Iterable<RouteTotals> {
    return HttpMetrics.totals([...this.#http.values()]);
  }
}

async function diskSamples(folder: string, blocks: 'bavail' | 'blocks'): Promise<Samples<number>> {
  try {
    const disk = await statfs(folder);
    return [[{}, disk[blocks] * disk.bsize]];
  } catch {
    // The folder is still to be created, or was removed.
    return [];
  }
}
