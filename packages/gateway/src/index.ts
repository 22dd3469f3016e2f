/** The server of the Open Presence Gateway, and what looks after its log. */
export {
  repairLog,
  scrubProgress,
  startGateway,
  verifyDerived,
  verifyLog,
  type DerivedFault,
  type LogFault,
  type ScrubProgress,
  type VerifyEvent,
  type Gateway,
  type GatewayConfig,
  type VerifyResult,
  type WakingProgress,
} from './gateway.ts';
