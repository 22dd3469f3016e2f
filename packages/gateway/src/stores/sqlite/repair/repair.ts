/**
 * Makes the idempotency keys again from the entries of a log, and puts changed and lost entries back from
 * another copy of the log. A copy's bytes are taken only if the entry's link was made of them, and replace
 * the others at once. A gateway may run meanwhile. Nothing else is changed.
 *
 * Invariant: Repair puts back what was stored, and takes nothing that the chain does not go on
 *   from.
 * Test: `packages/cli/src/repair.test.ts` “presence repair puts changed and lost entries back
 *   from a backup or an import” “presence repair takes no entry that the chain does not go on from”
 */
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { isSpoiled, removeDatabase } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import { openLogForReading } from '../log/log-database.ts';
import { repairEntries, type RepairEvent, type RepairSources } from './repair-entries.ts';
import { verifyKeys } from './verify-keys.ts';

/** Yields each wrong key, and with sources each wrong entry, once it was put back or could not be. */
export async function* repairLog(
  data: string,
  sources?: RepairSources,
): AsyncGenerator<RepairEvent> {
  const paths = dataPathsIn(data);
  if (sources !== undefined) yield* repairEntries(paths, sources);
  yield* repairKeys(paths);
}

/** The gateway makes the file again, at once or at its next start. */
function* repairKeys(paths: DataPaths): Generator<RepairEvent> {
  using db = openLogForReading(paths);
  let isWrong = false;
  try {
    for (const faults of verifyKeys(db, paths, new RowReader(db).lastSeq()))
      for (const { seq, description: fault } of faults) {
        isWrong = true;
        yield { seq, fault, reason: undefined };
      }
  } catch (error) {
    if (!isSpoiled(error)) throw error;
    isWrong = true;
    yield { seq: undefined, fault: `keys.sqlite ${error.message}`, reason: undefined };
  }
  if (isWrong) removeDatabase(paths.keys);
}
