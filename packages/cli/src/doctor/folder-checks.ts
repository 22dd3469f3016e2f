/** Checks the data folder and its disk, and the clock by the times of its files. */
import { constants } from 'node:fs';
import { access, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { fault, type Finding, ok, reasonOf, warning } from './finding.ts';

const MIB = 1024 * 1024;
const LITTLE_SPACE = 1024 * MIB;
const SLOW_FLUSH_MS = 20;
const FLUSHES = 5;
const CLOCK_SLACK_MS = 60_000;

/** File systems on which a log may be lost or cannot be locked, by the `f_type` of statfs(2). */
const FILE_SYSTEMS: ReadonlyMap<number, readonly [name: string, problem: string]> = new Map([
  [0x6969, ['NFS', 'SQLite cannot rely on its locks and its shared memory']],
  [0x517b, ['SMB', 'SQLite cannot rely on its locks and its shared memory']],
  [0xff534d42, ['CIFS', 'SQLite cannot rely on its locks and its shared memory']],
  [0xfe534d42, ['SMB', 'SQLite cannot rely on its locks and its shared memory']],
  [0x01021997, ['9p', 'SQLite cannot rely on its locks and its shared memory']],
  [0x01021994, ['tmpfs', 'it is in memory: everything is lost with the machine’s next start']],
  [0x794c7630, ['overlayfs', 'it is the layer of a container: everything is lost with it']],
]);

/** Checks the data folder, or the folder in which it will be created. */
export async function checkFolder(data: string): Promise<readonly Finding[]> {
  const folder = resolve(data);
  const existing = await nearestFolder(folder);
  const permissions = await checkPermissions(folder, existing);
  const disk = await checkDisk(existing);
  if (permissions.level === 'fault') return [permissions, ...disk];
  return [permissions, ...disk, await checkFlushes(existing), await checkClock(existing)];
}

async function nearestFolder(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch {
    return dirname(folder) === folder ? folder : await nearestFolder(dirname(folder));
  }
}

async function checkPermissions(folder: string, existing: string): Promise<Finding> {
  const check = 'data folder';
  const mend =
    'Give it to the user who runs the gateway (chown -R), or choose another with --data.';
  try {
    if (!(await stat(existing)).isDirectory()) throw new Error('it is no folder');
    await access(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    if (existing !== folder) return ok(check, `${folder} will be created by the first start`);
    const { uid } = await stat(folder);
    for (const file of await filesIn(folder)) {
      await unlessGone(access(file.path, constants.R_OK | constants.W_OK));
      if (file.uid !== uid)
        return warning(check, `${file.path} belongs to another user than the folder`, mend);
    }
    return ok(check, `${folder} can be read and written`);
  } catch (error) {
    return fault(check, `${folder} cannot be used: ${reasonOf(error)}`, mend);
  }
}

interface FileInFolder {
  readonly path: string;
  readonly uid: number;
  readonly mtimeMs: number;
}

/** Leaves out files that are removed while it reads the folder: a gateway may be running on it. */
async function filesIn(folder: string): Promise<readonly FileInFolder[]> {
  const files: FileInFolder[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await unlessGone(stat(path));
    if (stats !== undefined) files.push({ path, uid: stats.uid, mtimeMs: stats.mtimeMs });
  }
  return files;
}

/** Undefined if the file does not exist any more. */
async function unlessGone<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function checkDisk(existing: string): Promise<readonly Finding[]> {
  const { type, bavail, blocks, bsize, files, ffree } = await statfs(existing);
  const [name, problem] = FILE_SYSTEMS.get(type) ?? [];
  const place = 'Choose a folder on a local disk with --data.';
  const kind =
    problem === undefined
      ? ok('file system', 'a local one, as far as is known')
      : warning('file system', `${name}: ${problem}`, place);
  const free = bavail * bsize;
  const share = Math.round((bavail / Math.max(1, blocks)) * 100);
  const text = `${(free / 1024 / MIB).toFixed(1)} GiB free, ${share} %`;
  const room = 'Make room, or choose a folder on another disk with --data.';
  const hasFiles = files === 0 || ffree > files / 100;
  const space =
    free < LITTLE_SPACE || !hasFiles
      ? warning('space', hasFiles ? text : `${text}, but few inodes`, room)
      : ok('space', text);
  return [kind, space];
}

/** Measures how long the flush of a small write takes: every entry waits for one. */
async function checkFlushes(existing: string): Promise<Finding> {
  const check = 'flushes';
  const path = join(existing, `.presence-doctor-${Date.now()}`);
  try {
    const times: number[] = [];
    {
      await using file = await open(path, 'wx');
      for (let count = 0; count < FLUSHES; count += 1) {
        const start = performance.now();
        await file.write('presence');
        await file.datasync();
        times.push(performance.now() - start);
      }
    }
    const median = times.toSorted((a, b) => a - b)[Math.floor(FLUSHES / 2)] ?? 0;
    const text = `a flush takes ${median.toFixed(1)} ms`;
    if (median < SLOW_FLUSH_MS) return ok(check, text);
    return warning(
      check,
      text,
      'Each contribution waits for one: use a faster disk if that is too long.',
    );
  } catch (error) {
    const mend = 'Look at the disk, and at the log of the system.';
    return fault(check, `a file cannot be written and flushed: ${reasonOf(error)}`, mend);
  } finally {
    await rm(path, { force: true });
  }
}

/** Looks for files from the future: while the clock is behind, new entries get the time of the newest entry. */
async function checkClock(existing: string): Promise<Finding> {
  const files = await filesIn(existing);
  const ahead = Math.max(0, ...files.map(({ mtimeMs }) => mtimeMs)) - Date.now();
  if (ahead < CLOCK_SLACK_MS) return ok('clock', `${new Date().toISOString()}, behind no file`);
  const text = `it is ${Math.round(ahead / 1000)} s behind the newest file of the data folder`;
  return warning('clock', text, 'Set it, by NTP (timedatectl set-ntp true).');
}
