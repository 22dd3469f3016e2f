/**
 * The composition root: the one place that knows which store runs behind which doors.
 *
 * Owns the order of waking and resting. Upholds that nothing is served before the log is whole,
 * that what is under way when the gateway rests is finished before the log is closed, and that a
 * start that fails leaves nothing open.
 */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import type { State } from '@open-presence/protocol';
import { ownLanguage } from '@open-presence/protocol/own-language';
import type { Logger } from 'pino';

import type { Spoken } from './doors/http/exchange.ts';
import { houseOf, HttpDoor } from './doors/http/http.ts';
import type { Log } from './log/log.ts';
import { openSqliteLog } from './stores/sqlite/store.ts';

export { verifyLog, type Fault, type Finding, type Verified } from './stores/sqlite/verify.ts';

export interface GatewayConfig {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Folder of the log, made if it is not there. */
  readonly data: string;
  /** Path of a language file; without one, the language that comes with the gateway. */
  readonly language: string | undefined;
  readonly logger: Logger;
}

/** A gateway that is awake. Disposing of it lets it rest: resolves when all is finished. */
export interface Gateway extends AsyncDisposable {
  /** `http://127.0.0.1:7410` */
  readonly address: string;
  state(): State;
}

const SAID = {
  holding: 'holding: entries cannot be stored now; reading goes on',
  breathing: 'breathing: entries can be stored again',
} as const;

const OWN_LANGUAGE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));

/**
 * Resolves when the gateway serves. Rejects with `LanguageError` for a language file that cannot
 * be used, and with the error of the system for an address or folder that cannot.
 */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  const { host, port, data: folder, logger: report } = config;
  const spoken = await spokenIn(config.language);
  const house: { log?: Log; resting: boolean } = { resting: false };
  const state = (): State => {
    if (house.resting) return 'resting';
    return house.log?.state() ?? 'waking';
  };
  // Disposed of in reverse: the log is closed when nobody is at the door any more.
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => house.log?.[Symbol.asyncDispose]());
  const threshold = { language: spoken.language, report, state };
  const door = opened.use(await HttpDoor.listen({ host, port }, threshold));
  const log = await openSqliteLog({
    folder,
    changed: (condition) => report.warn({ status: condition }, SAID[condition]),
  });
  door.open(houseOf({ ...spoken, report, state, log }));
  house.log = log;
  const rest = opened.move();
  return {
    address: door.address,
    state,
    async [Symbol.asyncDispose]() {
      house.resting = true;
      await rest.disposeAsync();
    },
  };
}

async function spokenIn(path: string | undefined): Promise<Spoken> {
  const file = path ?? fileURLToPath(OWN_LANGUAGE);
  const text = await bytesOf(file);
  const decoded = decodedOf(file, text);
  if (path === undefined) return { text, language: ownLanguage(decoded) };
  const { parseLanguage } = await import('@open-presence/protocol/language-file');
  return { text, language: parseLanguage(decoded, path) };
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read language file "${file}": ${reason}`, { cause });
  }
}

function decodedOf(file: string, text: Uint8Array): string {
  if (isUtf8(text)) return new TextDecoder().decode(text);
  throw new Error(`Cannot read language file "${file}": it must be text in UTF-8`);
}
