/** A further thread that serves HTTP: its own listener over the same log. Part of the composition root. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import type { State } from '@open-presence/protocol';

import { createAppContext } from './app-context.ts';
import { HttpListener } from './http/http-listener.ts';
import type { ListenOptions } from './http/connection/server.ts';
import { HttpObservation, type ObservationOptions } from './request-log.ts';
import { collectGarbageWhenIdle } from './idle-memory.ts';
import type { LoadedWords } from './load-language.ts';
import { Mirror } from './operations/copy/mirror.ts';
import { Notices } from './operations/notices.ts';
import { Presence } from './presence/presence.ts';
import { createRouter } from './routes.ts';
import { type SqliteConnection, SqliteLog } from './store/sqlite-log.ts';

export interface HttpWorkerStart {
  readonly listen: ListenOptions;
  readonly log: SqliteConnection;
  readonly temporaryFolder: string;
  readonly data: string;
  /** Over which threads share who is present. */
  readonly presencePort: MessagePort;
  readonly loaded: LoadedWords;
  readonly mirror: Pick<Mirror, 'origin' | 'memory'> | undefined;
  readonly observation: ObservationOptions;
}

/** `turn` is answered likewise, in the thread's next turn. A language is served from then on. */
export type ToHttpWorker = 'stop' | 'turn' | LoadedWords;
export type FromHttpWorker =
  | 'serving'
  | 'turn'
  | { readonly details: object; readonly text: string }
  /** Lines for the log of requests. */
  | { readonly lines: string };

const port = parentPort;
if (port === null) throw new Error('This runs in a worker thread.');
const start = workerData as HttpWorkerStart;
const post = (message: FromHttpWorker): void => port.postMessage(message);

let stopping = false;
let reload = (_loaded: LoadedWords): void => {};
const stopped = new Promise<void>((resolve) => {
  port.on('message', (message: ToHttpWorker) => {
    if (message === 'turn') {
      post('turn');
      return;
    }
    if (message !== 'stop') {
      reload(message);
      return;
    }
    stopping = true;
    resolve();
  });
});

{
  using _collecting = collectGarbageWhenIdle();
  await using log = new SqliteLog(start.log);
  using presence = new Presence(start.presencePort);
  const state = (): State => (stopping ? 'resting' : log.writable() ? 'breathing' : 'holding');
  const report = { error: (details: object, text: string): void => post({ details, text }) };
  const { temporaryFolder } = start;
  const notices = new Notices(start.data);
  const readOnly = (): string | undefined => log.readOnly();
  const startup = {
    language: start.loaded.language,
    report,
    publicUrl: start.loaded.publicUrl,
    state,
    readOnly,
  };
  const router = createRouter(start.loaded.language);
  using observation = new HttpObservation(start.observation, (lines) => post({ lines }));
  const { observe } = observation;
  await using listener = await HttpListener.listen(start.listen, startup, router, observe);
  observation.watch(listener);
  const mirror = start.mirror && new Mirror(start.mirror.origin, start.mirror.memory);
  const parts = { startup, log, presence, temporaryFolder, notices, mirror };
  reload = (loaded) => {
    listener.open((services) => createAppContext({ ...parts, loaded }, services));
  };
  reload(start.loaded);
  post('serving');
  await stopped;
}
port.close();
