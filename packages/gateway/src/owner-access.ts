/** What the owner of a data folder may do with its log, beside its gateway or without one. Part of the composition root. */
import { askGateway, hasGateway } from './control/control-client.ts';
import {
  ADDRESS_PATH,
  controlOperations,
  type ControlOperations,
  NAMES_PATH,
  namesOperation,
  RELOAD_PATH,
} from './control/operations.ts';
import { createGrammar } from './intake/grammar.ts';
import { type JsonObject, toJsonObject } from './json/json-object.ts';
import { loadLanguage, type ReloadedSettings } from './load-language.ts';
import { Notices } from './operations/notices.ts';
import { refuseBackup } from './store/backup/description.ts';
import { readHiddenNames, writeHiddenNames } from './presence/hidden-names.ts';
import { dataPathsIn } from './store/data-paths.ts';
import { openFolderLog } from './store/folder-log.ts';
import { isLocked } from './store/lock-file.ts';
import { openSqliteLog } from './store/store.ts';

export interface OwnerAccessOptions {
  readonly data: string;
  /** Path of a language file, for a folder without a gateway. */
  readonly language: string | undefined;
  readonly fileThreads?: number | undefined;
}

export interface OwnerAccess extends AsyncDisposable {
  /** Yields what the operation has to say. Throws what it refuses. */
  request(path: string, body: JsonObject, signal: AbortSignal): AsyncIterable<JsonObject>;
}

/** Throws if the folder has no log or is a backup, and if the gateway that has it cannot be asked. */
export async function openOwnerAccess(options: OwnerAccessOptions): Promise<OwnerAccess> {
  const { data, fileThreads } = options;
  if (await hasGateway(data)) {
    return {
      request: (path, body, signal) => askGateway(data, path, body, signal),
      async [Symbol.asyncDispose]() {},
    };
  }
  refuseBackup(data);
  // Opening a log makes one where there is none.
  openFolderLog(data)[Symbol.dispose]();
  const { language } = await loadLanguage(options.language);
  const log = await openSqliteLog({ folder: data, fileThreads });
  const operations: ControlOperations = {
    ...controlOperations({ log, grammar: createGrammar(language), notices: new Notices(data) }),
    [NAMES_PATH]: namesOperation(
      () => readHiddenNames(data),
      (hidden) => writeHiddenNames(data, hidden),
    ),
  };
  return {
    async *request(path, body, signal) {
      for await (const event of operations[path]?.(body, signal) ?? [])
        yield toJsonObject(JSON.parse(event));
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

/** Resolves after the gateway that runs on the folder answers with these settings. Throws its refusal. */
export async function reloadGateway(data: string, settings: ReloadedSettings): Promise<void> {
  if (!(await hasGateway(data))) throw new Error('no gateway runs on this folder.');
  const { language, publicUrl } = settings;
  const body = { ...(language && { language }), ...(publicUrl && { publicUrl }) };
  for await (const _ of askGateway(data, RELOAD_PATH, body, new AbortController().signal));
}

/** How long the gateway may take to say where it listens. */
const PATIENCE_MS = 10_000;

/** The gateway that runs on a folder, and where it listens if it can say so. */
export async function runningGateway(
  data: string,
): Promise<{ readonly address: string | undefined } | undefined> {
  if (!(await hasGateway(data))) return isUsed(data) ? { address: undefined } : undefined;
  for await (const { address } of askGateway(
    data,
    ADDRESS_PATH,
    {},
    AbortSignal.timeout(PATIENCE_MS),
  ))
    return { address: typeof address === 'string' ? address : undefined };
  return { address: undefined };
}

/** Whether a process has the folder: a gateway that reads its log still has no socket for its owner. */
function isUsed(data: string): boolean {
  try {
    return isLocked(dataPathsIn(data).lock);
  } catch {
    return false;
  }
}
