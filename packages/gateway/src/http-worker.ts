/**
 * A further thread that serves visitors: a door of its own on the same port, onto the same log.
 * Knows the store as the composition root does, of which it is a part.
 */
import { parentPort, workerData } from 'node:worker_threads';

import type { State } from '@open-presence/protocol';

import { appContextOf, HttpListener, type ListenOptions } from './http/http-listener.ts';
import { logState } from './log-state.ts';
import { Presence } from './presence/presence.ts';
import { parseLanguageBytes } from './load-language.ts';
import type { SqliteConnection } from './stores/sqlite/sqlite-log.ts';
import { joinSqliteLog } from './stores/sqlite/store.ts';

export interface HttpStart {
  readonly place: ListenOptions;
  readonly log: SqliteConnection;
  readonly publicUrl: string | undefined;
  /** By which the threads tell each other who is present. */
  readonly channel: string | undefined;
  /** The language file, and its path where it is the operator's own. */
  readonly text: Uint8Array;
  readonly language: string | undefined;
}
/** The one thing that it is told. */
export type ToHttpThread = 'rest';
export type FromHttpThread = 'serving' | { readonly details: object; readonly text: string };

const port = parentPort;
if (port === null) throw new Error('This serves visitors in a thread of its own.');
const start = workerData as HttpStart;
const say = (message: FromHttpThread): void => port.postMessage(message);

let resting = false;
const rest = new Promise<void>((resolve) => {
  port.once('message', () => {
    resting = true;
    resolve();
  });
});

const spoken = await parseLanguageBytes(start.text, start.language);
{
  await using log = joinSqliteLog(start.log);
  using presence = new Presence(start.channel);
  const state = (): State => (resting ? 'resting' : logState(log.writable()));
  const report = { error: (details: object, text: string): void => say({ details, text }) };
  const { language } = spoken;
  const { publicUrl } = start;
  await using door = await HttpListener.listen(start.place, { language, report, publicUrl, state });
  door.open(appContextOf({ ...spoken, report, publicUrl, state, log, presence }));
  say('serving');
  await rest;
}
port.close();
