/** The server of the Open Presence Gateway, and what looks after its log. */
export {
  CopyRefusal,
  openLogCopy,
  repairLog,
  type ContinuedLog,
  type LogCopy,
  type LogCopyOptions,
  type RepairOptions,
} from './log-copy.ts';
export { createMultiFrameUnzstd, createMultiMemberGunzip } from './decompression.ts';
export { adoptIntoCluster, checkCluster, leaveCluster, type LeftLog } from './cluster.ts';
export { checkLog, hasPages, runningGateway } from './start-checks.ts';
export type { MetricsAddress } from './metrics-endpoint.ts';
export type { RequestLogOptions } from './request-log.ts';
export type { LogLine } from './operations/log-line.ts';
export {
  backUpLog,
  isShareable,
  openFolderLog,
  parseStreamAddress,
  restoreLog,
  RestoreRefusal,
  scrubProgress,
  startGateway,
  verifyDerived,
  verifyLog,
  type BackupOptions,
  type BackupReport,
  type DerivedFault,
  type FolderLog,
  type ListenAddress,
  type LogFault,
  type ScrubProgress,
  type VerifyEvent,
  type Gateway,
  type GatewayConfig,
  type Mirroring,
  type RestoreOptions,
  type RestoreReport,
  type VerifyResult,
  type WakingProgress,
} from './gateway.ts';
export {
  openOwnerAccess,
  PREVIEW_PATH,
  WITHHOLD_PATH,
  type OwnerAccess,
  type OwnerAccessOptions,
} from './owner-access.ts';
