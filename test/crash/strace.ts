/** Makes the system calls of a running process fail or wait, without the process having a hand in it. */
import { spawn } from 'node:child_process';

/** Injects a fault into every flush. */
export function injectIntoFlushes(pid: number, fault: string): Promise<AsyncDisposable> {
  return inject(pid, 'fsync,fdatasync', fault);
}

/**
 * Injects a fault (strace's `inject=`) into system calls of all threads of a process, from when this
 * resolves until it is disposed of.
 */
export async function inject(pid: number, calls: string, fault: string): Promise<AsyncDisposable> {
  const args = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:${fault}`];
  const child = spawn('strace', [...args, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const attached = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const detach = (): void => void child.kill('SIGINT');
  process.once('exit', detach);
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
    if (/attached/.test(told)) attached.resolve();
  });
  child.once('error', attached.reject);
  child.once('close', () => {
    process.off('exit', detach);
    attached.reject(
      new Error(`strace cannot attach, for which the tests must run as root: ${told}`),
    );
    ended.resolve();
  });
  await attached.promise;
  return {
    async [Symbol.asyncDispose]() {
      detach();
      await ended.promise;
    },
  };
}
