import type { ProcessContext } from './process-context.ts';

/** The exit codes of the command: `--help` and `docs/command.md` print this table. */
export const EXIT_CODES = {
  0: 'it is done',
  1: 'it was refused or failed, or what was checked has faults',
  2: 'the gateway cannot be reached, or the log or a file cannot be used',
  3: 'only derived files have changed: the gateway makes them again',
} as const;

export type ExitCode = keyof typeof EXIT_CODES;

export const EXIT_FAILED = 1;
export const EXIT_UNREACHABLE = 2;
export const EXIT_DERIVED_FAULTS = 3;

/** Writes in one line why a command cannot do `what`, and sets the exit code. */
export function fail(
  { stderr, setExitCode }: Pick<ProcessContext, 'stderr' | 'setExitCode'>,
  what: string,
  error: unknown,
  code: ExitCode = EXIT_UNREACHABLE,
): void {
  stderr.write(`Cannot ${what}: ${reasonOf(error)}\n`);
  setExitCode(code);
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
