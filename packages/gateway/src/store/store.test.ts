import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { callerEnded } from '../ended-callers.ts';
import { bodyOf, draftOf, fill, metadataOf } from '../log/log.fixture.ts';
import { facet } from '../log/facet.ts';
import type { Selection } from '../log/log.ts';
import { seqsFound, textQuery, untilSearchable } from '../search/search.fixture.ts';
import { openSqliteLog } from './store.ts';

describe('a thread that joins the SQLite store', () => {
  it('reads, appends and hears of what others append', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    try {
      await using log = await openSqliteLog({ folder });
      await log.append(draftOf({ body: '"text":"before"' }));
      const connection = log.connect();
      const thread = new Worker(new URL('joined-thread.fixture.ts', import.meta.url), {
        workerData: connection,
        transferList: [connection.writer, connection.index],
      });
      const exited = once(thread, 'exit');
      const messages: unknown[] = [];
      thread.on('message', (message) => void messages.push(message));
      const reached = new Promise<void>((resolve) => {
        const watching = log.watch(() => {
          if (log.head() < 102) return;
          watching[Symbol.dispose]();
          resolve();
        });
      });
      await once(thread, 'message');
      const own = Array.from({ length: 50 }, () => log.append(draftOf()));
      const seqs = (await Promise.all(own)).map((appended) => metadataOf(appended).seq);
      await reached;
      await exited;
      const [first, ...others] = messages as [string, number[]];
      assert.match(first, /"text":"before"/);
      const all = [...seqs, ...others.flat()].toSorted((a, b) => a - b);
      assert.deepEqual(
        all,
        Array.from({ length: 101 }, (_, at) => at + 2),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('a start of the SQLite store', () => {
  it('keeps no file of a body that no entry has, and those of 0.2 that an entry has', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    const filesOf = async (): Promise<string[]> => {
      const found = await readdir(join(folder, 'large'), { recursive: true, withFileTypes: true });
      return found.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    };
    const body = bodyOf(100_000, 1);
    try {
      {
        await using log = await openSqliteLog({ folder });
        const spool = log.spool();
        await fill(spool, [body]);
        await log.append({ ...draftOf(), body: spool });
      }
      const [file = ''] = await filesOf();
      const former = join(folder, 'large', 'incoming');
      await mkdir(former);
      await rename(file, join(former, file.slice(-36)));
      const others = [`${file}.part`, file.slice(0, -1), join(former, crypto.randomUUID())];
      for (const name of others) await writeFile(name, 'left by a crash');
      await using log = await openSqliteLog({ folder });
      assert.deepEqual(await filesOf(), [file]);
      const entry = await log.entry(1);
      const pieces: Uint8Array[] = [];
      for await (const piece of entry?.chunks() ?? []) pieces.push(Buffer.from(piece));
      assert.ok(Buffer.concat(pieces).includes(Buffer.from(body)));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('reading the SQLite store', () => {
  it('comes last for a caller who has ended its half', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    try {
      await using log = await openSqliteLog({ folder });
      await Promise.all(Array.from({ length: 5000 }, () => log.append(draftOf())));
      const { signal } = new AbortController();
      callerEnded(signal);
      const finished: string[] = [];
      const readAll = async (name: string, selection: Selection): Promise<void> => {
        for await (const _ of log.readEntries(selection));
        finished.push(name);
      };
      const all: Selection = { facets: [], order: 'oldest' };
      await Promise.all([
        readAll('gone', { ...all, signal, limit: 4000 }),
        readAll('waiting', all),
      ]);
      assert.deepEqual(finished, ['waiting', 'gone']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('the index of the SQLite store', () => {
  it('that cannot be made keeps nobody from saying and reading, and is made once it can be', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await mkdir(join(folder, 'index.sqlite'));
    const changes: (string | undefined)[] = [];
    await using log = await openSqliteLog({
      folder,
      onChange: ({ part, cause }) => changes.push(`${part} ${cause === undefined}`),
    });
    assert.equal(metadataOf(await log.append(draftOf())).seq, 1);
    assert.deepEqual(await seqsFound(log, { facets: [facet('kind', 'garden')] }), [1]);
    while (!changes.includes('index false')) await pause(20);
    await rmdir(join(folder, 'index.sqlite'));
    await untilSearchable(log);
    assert.deepEqual(await seqsFound(log, { textQuery: textQuery('тиша') }), [1]);
    assert.deepEqual(changes, ['index false', 'index true']);
    await log[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
});

describe('a first start', () => {
  it('that was interrupted in the midst of making the log is done again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    const journal = Buffer.alloc(512);
    Buffer.from('d9d505f920a163d7', 'hex').copy(journal);
    // Pages before the transaction: none. Sectors of 512 bytes, pages of 4096.
    journal.writeUInt32BE(512, 20);
    journal.writeUInt32BE(4096, 24);
    await writeFile(join(folder, 'log.sqlite'), Buffer.alloc(4096));
    await writeFile(join(folder, 'log.sqlite-journal'), journal);
    const log = await openSqliteLog({ folder });
    assert.equal(metadataOf(await log.append(draftOf())).seq, 1);
    await log[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('that lost power before it was flushed is done again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'presence-'));
    const [log, wal] = [join(folder, 'log.sqlite'), join(folder, 'log.sqlite-wal')];
    {
      using unfinished = new DatabaseSync(join(folder, 'unfinished'));
      unfinished.exec(
        'PRAGMA journal_mode = WAL; CREATE TABLE meta (name TEXT PRIMARY KEY, value)',
      );
      await copyFile(join(folder, 'unfinished'), log);
      await copyFile(join(folder, 'unfinished-wal'), wal);
    }
    {
      // The sectors of the first frame, after the header of 32 bytes, have not reached the disk.
      await using file = await open(wal, 'r+');
      await file.write(Buffer.alloc(4096), 0, 4096, 32);
    }
    await using started = await openSqliteLog({ folder });
    assert.equal(metadataOf(await started.append(draftOf())).seq, 1);
    await started[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
});
