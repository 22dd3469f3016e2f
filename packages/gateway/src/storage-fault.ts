/**
 * Tells faults of disks and files, which the gateway survives and reports, from faults of its own,
 * which end the thread or the request that they happen in.
 *
 * Invariant: A failed flush or a full disk acknowledges nothing, loses nothing and stops no reads.
 *   Storing resumes by itself, and no fault of a disk ends the process.
 * Test: `test/crash/flush.test.ts` “flushes that fail: nothing is acknowledged, reading goes on,
 *   storing resumes” “flushes that begin to fail, then a kill: keys are kept once, whatever was
 *   written”
 * Test: `test/crash/full.test.ts` “a full disk: nothing acknowledged is lost, reading goes on,
 *   storing resumes” “an upload that fills the disk leaves nothing”
 * Test: `test/crash/disk-faults.test.ts` “no fault of a disk ends the process, and all works once
 *   it is over”
 */

/** A fault of a disk or a file that neither the system nor SQLite reports. */
export class StorageFault extends Error {
  override readonly name = 'StorageFault';
}

/** What is reported of a fault. */
export interface FaultCause {
  /** `ENOSPC`, or the extended result code of SQLite: `SQLite 778`. */
  readonly code: string;
  readonly message: string;
}

/** Whether the system, SQLite or a spoiled file is at fault. Any other error is a fault of the gateway. */
export function isStorageFault(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return isOurs(error) || 'syscall' in error || 'errcode' in error || isNumberBeyondRange(error);
}

/** Throws an error that is no fault of a disk or a file. */
export function assertStorageFault(error: unknown): asserts error is Error {
  if (!isStorageFault(error)) throw error;
}

export function causeOf(error: Error): FaultCause {
  const { message, cause } = error;
  if (isOurs(error) && cause instanceof Error) return { code: causeOf(cause).code, message };
  if ('errcode' in error) return { code: `SQLite ${String(error.errcode)}`, message };
  return { code: 'code' in error ? String(error.code) : error.name, message };
}

/** By its name: a package beside the gateway may have this module a second time. */
function isOurs(error: Error): boolean {
  return error.name === 'StorageFault';
}

/** From `node:sqlite`, for an integer that only a spoiled row can have. */
function isNumberBeyondRange(error: Error): boolean {
  return (
    'code' in error &&
    error.code === 'ERR_OUT_OF_RANGE' &&
    error.message.startsWith('Value is too large')
  );
}
