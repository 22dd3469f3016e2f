/** Verifies the log of a folder, and in a backup also what no link covers. */
import { assertStorageFault } from '../../../storage-fault.ts';
import { dataPathsIn } from '../data-paths.ts';
import { isLastCommit } from '../writer/last-commit.ts';
import { openLogForReading } from '../log/log-database.ts';
import { OTHER_FACETS, verifyLog, type VerifyEvent, type VerifyResult } from '../repair/verify.ts';
import { changedFacets } from './copy-files.ts';
import {
  type BackupDescription,
  digestOfFile,
  readDescription,
  unfinishedReason,
} from './description.ts';

/**
 * Yields faults as they are found, and the progress. Throws when the folder has no log that this program
 * can read, and when it is a backup that does not count. Changes nothing.
 */
export async function* verifyFolder(
  folder: string,
): AsyncGenerator<VerifyEvent, VerifyResult, undefined> {
  const paths = dataPathsIn(folder);
  const description = readDescription(paths);
  if (description === undefined) return yield* verifyLog(folder);
  const reason = unfinishedReason(paths, description);
  if (reason !== undefined) throw new Error(reason);
  let faults = 0;
  for await (const fault of fileFaults(folder, description)) {
    faults += 1;
    yield { type: 'fault', ...fault };
  }
  const result = yield* verifyLog(folder);
  using db = openLogForReading(paths);
  for await (const { seq } of changedFacets(db, paths)) {
    faults += 1;
    yield { type: 'fault', seq, description: OTHER_FACETS };
  }
  return { ...result, faults: result.faults + faults };
}

async function* fileFaults(
  folder: string,
  { log, head, link, sha256 }: BackupDescription,
): AsyncGenerator<{ seq: undefined; description: string }> {
  const paths = dataPathsIn(folder);
  if (await isChanged(paths.log, sha256))
    yield { seq: undefined, description: 'log.sqlite is not what was backed up' };
  if (!isLastCommit(paths, { log, seq: head, link }))
    yield { seq: undefined, description: 'last-commit is not what was backed up' };
}

async function isChanged(file: string, sha256: string | undefined): Promise<boolean> {
  try {
    return (await digestOfFile(file)) !== sha256;
  } catch (error) {
    assertStorageFault(error);
    return true;
  }
}
