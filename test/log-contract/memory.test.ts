import { contractOf } from './log.contract.ts';
import { openMemoryLog } from '../../packages/gateway/src/stores/memory/memory.ts';

contractOf('the memory store', async () => {
  const log = openMemoryLog();
  return { log, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
});
