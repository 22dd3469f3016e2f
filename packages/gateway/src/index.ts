/** The server of the Open Presence Gateway, and what looks after its log. */
import type { Gateway, GatewayConfig } from './gateway.ts';

/** See `gateway.ts`, which is loaded by the call: whoever only looks after a log does without it. */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  const serving = await import('./gateway.ts');
  return await serving.startGateway(config);
}

/** Whether the pages are built. */
export async function hasPages(): Promise<boolean> {
  const routes = await import('./routes.ts');
  return routes.hasPages();
}

export { CopyRefusal, openLogCopy, repeatWithholdings, type ContinuedLog } from './log-copy.ts';
export { NotALog, readLogLines } from './operations/copy/log-lines.ts';
export type { LogLine } from './operations/log-line.ts';
export { loadLanguage, readOwnTexts } from './load-language.ts';
export { adoptIntoCluster, checkCluster, leaveCluster } from './cluster.ts';
export { acceptLog, checkLog, type LogDoubt } from './store/store.ts';
export type { MetricsAddress } from './metrics-endpoint.ts';
export type { RequestLogOptions } from './request-log.ts';
export { isShareable, type ListenAddress } from './http/connection/listen-address.ts';
export type { LogFault } from './store/log/chain-verifier.ts';
export { type FolderLog, openFolderLog } from './store/folder-log.ts';
export { verifyLog, type VerifyEvent, type VerifyResult } from './store/log/verify.ts';
export { type DerivedFault, verifyDerived } from './store/index/verify-index.ts';
export { backUpLog, type BackupReport } from './store/backup/back-up.ts';
export { refuseBackup } from './store/backup/description.ts';
export { compactLog } from './store/compact.ts';
export { LOG_FORMAT } from './store/log/log-database.ts';
export { parseStreamAddress } from './log/replica.ts';
export {
  restoreLog,
  RestoreRefusal,
  type RestoreOptions,
  type RestoreReport,
} from './store/backup/restore-log.ts';
export type { Gateway, GatewayConfig, Mirroring, WakingProgress } from './gateway.ts';
export {
  CLOSE_NOTICE_PATH,
  ERASE_NOTICE_PATH,
  NAMES_PATH,
  NOTICES_PATH,
  PREVIEW_PATH,
  READ_ONLY_PATH,
  SHOW_NOTICE_PATH,
  TEXTS_PATH,
  WITHHOLD_PATH,
} from './control/operations.ts';
export {
  openOwnerAccess,
  reloadGateway,
  runningGateway,
  type OwnerAccess,
} from './owner-access.ts';
