import type { ProcessContext } from '../src/process-context.ts';

/** The context for commands that do not run: a command uses its context only when it runs. */
export function unusedContext(): ProcessContext {
  const { stdin, stdout, stderr } = process;
  const unused = (): never => {
    throw new Error('no command runs here');
  };
  const outputs = { logger: unused, serviceOutput: unused, requestLog: unused };
  const ends = { stopSignal: unused, setExitCode: unused, exit: unused };
  return {
    stdin,
    stdout,
    stderr,
    ...outputs,
    ...ends,
    serviceManager: unused,
    variables: [],
    fileThreads: undefined,
    passedSockets: 0,
    configurationFolder: '',
    nodeVersion: '',
    version: '',
  };
}
