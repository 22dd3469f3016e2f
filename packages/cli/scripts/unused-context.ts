import type { ProcessContext } from '../src/process-context.ts';

/** For commands of which none runs: they use their context when they do. */
export function unusedContext(): ProcessContext {
  const { stdin, stdout, stderr } = process;
  const unused = (): never => {
    throw new Error('no command runs here');
  };
  const functions = { logger: unused, stopSignal: unused, setExitCode: unused };
  return {
    stdin,
    stdout,
    stderr,
    ...functions,
    fileThreads: undefined,
    passedSockets: 0,
    configurationFolder: '',
    stateFolder: '',
    nodeVersion: '',
    requestLog: { fd: 1, format: 'text' },
  };
}
