/** The server of the Open Presence Gateway, and what looks after its log. */
export {
  repairLog,
  startGateway,
  verifyDerived,
  verifyLog,
  type DerivedFault,
  type LogFault,
  type VerifyEvent,
  type Gateway,
  type GatewayConfig,
  type VerifyResult,
  type WakingProgress,
} from './gateway.ts';
