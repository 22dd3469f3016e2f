import { contractOf } from '../../log/log.contract.ts';
import { openMemoryLog } from './memory.ts';

contractOf('the memory store', async () => {
  const log = openMemoryLog();
  return { log, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
});
