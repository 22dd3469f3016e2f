/** Ways in which a file goes bad. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';

/** What changes a file: it is gone, is shorter, has one other bit, or another page of 4 KiB. */
export const CHANGES = ['missing', 'truncated', 'bit', 'page'] as const;
export const FAULTS = [...CHANGES, 'not writable'] as const;
export type Fault = (typeof FAULTS)[number];

const PAGE = 4096;

/** `chance`: a number from 0 to below 1 that decides where. */
export function spoil(file: string, fault: Fault, chance: number): void {
  if (fault === 'missing') rmSync(file, { force: true });
  else if (fault === 'not writable') setWritable(file, false);
  else if (fault === 'truncated')
    change(file, chance, (_, size, at) => truncateSync(file, Math.min(at, size - 1)));
  else if (fault === 'bit')
    change(file, chance, (handle, _, at) => {
      const byte = Buffer.alloc(1);
      readSync(handle, byte, 0, 1, at);
      writeSync(
        handle,
        Buffer.from([(byte[0] ?? 0) ^ (1 << (Math.floor(chance * 800) % 8))]),
        0,
        1,
        at,
      );
    });
  else
    change(file, chance, (handle, size, at) => {
      const start = at - (at % PAGE);
      writeSync(handle, Buffer.alloc(Math.min(PAGE, size - start), 0xa5), 0, undefined, start);
    });
}

/** Makes a file writable again. */
export function mend(file: string): void {
  setWritable(file, true);
}

/** Root may write to every file that is not immutable. */
function setWritable(file: string, isWritable: boolean): void {
  if (process.getuid?.() === 0) execFileSync('chattr', ['-f', isWritable ? '-i' : '+i', file]);
  else if (existsSync(file)) chmodSync(file, isWritable ? 0o600 : 0o400);
}

function change(
  file: string,
  chance: number,
  action: (handle: number, size: number, at: number) => void,
): void {
  // One that can be made again may have been removed meanwhile.
  if (!existsSync(file)) return;
  const handle = openSync(file, 'r+');
  const { size } = fstatSync(handle);
  if (size > 0) action(handle, size, Math.floor(chance * size));
  closeSync(handle);
}
