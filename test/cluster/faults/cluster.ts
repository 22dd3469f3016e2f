/** Three machines, each with a NATS server and a gateway. */
import { type GatewayProcess, startGatewayProcess } from '../../gateway-process.ts';
import { type NatsServers, startNatsServers } from '../nats-servers.ts';
import { type Machine, startMachines } from './machines.ts';

export interface Cluster extends AsyncDisposable {
  readonly machines: readonly Machine[];
  readonly nats: NatsServers;
  /** Of each machine; another process after a restart, at the same address. */
  readonly gateways: GatewayProcess[];
  /** Starts the gateway of a machine again over its folder. */
  restartGateway(index: number): Promise<void>;
}

const PORT = 7410;

export async function startFaultCluster(): Promise<Cluster> {
  await using stack = new AsyncDisposableStack();
  const { machines } = stack.use(await startMachines(3));
  const places = machines.map(({ host, under, folders }) => ({
    host,
    under,
    folder: folders.server,
  }));
  const nats = stack.use(await startNatsServers(3, { places }));
  const start = (machine: Machine | undefined): Promise<GatewayProcess> =>
    startGatewayProcess({
      under: [...(machine?.under ?? []), ...(machine?.clock.under ?? [])],
      data: machine?.folders.gateway ?? '',
      args: [
        '--host',
        machine?.host ?? '',
        '--port',
        String(PORT),
        '--threads',
        '1',
        '--log',
        nats.url,
      ],
    });
  const gateways = await Promise.all(machines.map(start));
  stack.defer(async () => {
    for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
  });
  const rest = stack.move();
  return {
    machines,
    nats,
    gateways,
    async restartGateway(index) {
      gateways[index] = await start(machines[index]);
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}
