import { contractOf } from './log.contract.ts';
import { openMemoryLog } from '../support/memory-log/memory-log.ts';

contractOf('the memory store', async () => {
  const log = openMemoryLog();
  return { log, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
});
