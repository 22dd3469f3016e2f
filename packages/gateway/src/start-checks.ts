/**
 * What a start of a gateway would find, for a look before it. Changes nothing. Part of the composition
 * root.
 */
import { askGateway, hasGateway } from './control/control-client.ts';
import { ADDRESS_PATH } from './control/operations.ts';

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
