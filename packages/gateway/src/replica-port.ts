/** What a package needs to order the drafts of several gateways: `@open-presence/gateway/replica`. */
export * from './log/ordered-batch.ts';
export * from './log/packed-drafts.ts';
export * from './log/replica.ts';
export type { Seq } from './log/log.ts';
export { assertStorageFault, StorageFault } from './storage-fault.ts';
