/** The server of the Open Presence Gateway. */
export { startGateway, type Gateway, type GatewayConfig } from './gateway.ts';
