/** The server of the Open Presence Gateway, and what looks after its log. */
export {
  startGateway,
  verifyLog,
  type Fault,
  type Finding,
  type Gateway,
  type GatewayConfig,
  type Verified,
} from './gateway.ts';
