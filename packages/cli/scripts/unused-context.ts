import type { ProcessContext } from '../src/process-context.ts';

/** For commands of which none runs: they use their context when they do. */
export function unusedContext(): ProcessContext {
  const { stdin, stdout, stderr } = process;
  const unused = (): never => {
    throw new Error('no command runs here');
  };
  const outputs = { logger: unused, serviceOutput: unused, requestLog: unused };
  const functions = { ...outputs, stopSignal: unused, serviceManager: unused, setExitCode: unused };
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
    version: '',
  };
}
