/**
 * What a start of a gateway would find, for a look before it. Changes nothing. Part of the composition
 * root.
 */
import { askGateway, hasGateway } from './control/control-client.ts';
import { ADDRESS_PATH } from './control/operations.ts';
import { parseStreamAddress } from './stores/jetstream/stream-address.ts';

export { hasPages } from './routes.ts';
export { checkLog } from './stores/sqlite/store.ts';

const PATIENCE_MS = 10_000;

/** The gateway that runs on a folder, and where it listens if it can say so. */
export async function runningGateway(
  data: string,
): Promise<{ readonly address: string | undefined } | undefined> {
  if (!(await hasGateway(data))) return undefined;
  for await (const { address } of askGateway(
    data,
    ADDRESS_PATH,
    {},
    AbortSignal.timeout(PATIENCE_MS),
  ))
    return { address: typeof address === 'string' ? address : undefined };
  return { address: undefined };
}

/** Throws what a gateway would refuse, and where no server can be reached. Resolves with those that store nothing. */
export async function checkCluster(log: string): Promise<readonly string[]> {
  const address = parseStreamAddress(log);
  if (address === undefined) throw new Error(`"${log}" is no address of a stream.`);
  // What speaks with NATS is loaded only where it is used.
  const [{ checkServers }, { connectOnce }] = await Promise.all([
    import('./stores/jetstream/check-servers.ts'),
    import('./stores/jetstream/stream.ts'),
  ]);
  const idle = await checkServers(address.servers);
  const connection = await connectOnce(address);
  await connection.close();
  return idle;
}
