/** The database of this device, with the drafts and the outbox. */

const NAME = 'open-presence';
const VERSION = 1;

/** `drafts`: by form and tab. `outbox`: by idempotency key. */
type StoreName = 'drafts' | 'outbox';

const KEY_PATHS: Readonly<Record<StoreName, string>> = { drafts: 'form', outbox: 'key' };

let opened: Promise<IDBDatabase> | undefined;

/** Rejects if the browser stores nothing, as some do in private windows. */
function openDatabase(): Promise<IDBDatabase> {
  opened ??= open();
  return opened;
}

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, VERSION);
  request.addEventListener('upgradeneeded', () => {
    for (const [name, keyPath] of Object.entries(KEY_PATHS)) {
      request.result.createObjectStore(name, { keyPath });
    }
  });
  const database = await resultOf(request);
  const forget = (): void => {
    database.close();
    opened = undefined;
  };
  database.addEventListener('versionchange', forget);
  database.addEventListener('close', forget);
  return database;
}

export async function read<T>(
  name: StoreName,
  query: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const database = await openDatabase();
  return await resultOf(query(database.transaction(name).objectStore(name)));
}

/** Resolves when all changes are on disk. `change` has to make them at once, without waiting. */
export async function write(
  names: readonly StoreName[],
  change: (transaction: IDBTransaction) => void,
): Promise<void> {
  const database = await openDatabase();
  const transaction = database.transaction(names, 'readwrite', { durability: 'strict' });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (): void => reject(transaction.error ?? new Error('The change was not stored'));
  transaction.addEventListener('complete', () => resolve());
  transaction.addEventListener('abort', fail);
  change(transaction);
  transaction.commit();
  await promise;
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  request.addEventListener('success', () => resolve(request.result));
  request.addEventListener('error', () =>
    reject(request.error ?? new Error('The database cannot be read')),
  );
  return promise;
}
