/** What all tests of a suite or a file share: started before the first of them, ended after the last. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import {
  type GatewayOptions,
  type GatewayProcess,
  startGatewayProcess,
} from './gateway-process.ts';

/**
 * To be called where the tests are declared. What it returns gives what was started. What is given to
 * the stack is disposed of at the end, the last one first.
 */
export function shared<T extends object>(
  start: (owned: AsyncDisposableStack) => Promise<T>,
): () => T {
  const owned = new AsyncDisposableStack();
  let started: T | undefined;
  before(async () => {
    started = await start(owned);
  });
  after(() => owned.disposeAsync());
  return () => started ?? assert.fail('It is there only while tests run.');
}

export type SharedGateway = Pick<GatewayProcess, 'data' | 'output' | 'pid' | 'url'>;

export function sharedGateway(options: GatewayOptions = {}): SharedGateway {
  const gateway = shared(async (owned) => owned.use(await startGatewayProcess(options)));
  return {
    get data() {
      return gateway().data;
    },
    get pid() {
      return gateway().pid;
    },
    get url() {
      return gateway().url;
    },
    output: () => gateway().output(),
  };
}
