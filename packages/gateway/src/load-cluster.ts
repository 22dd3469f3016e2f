import type { Cluster } from './log/replica.ts';

/** Imports nothing of the gateway but its port, and is installed by those alone who use it. */
const PACKAGE: string = '@open-presence/cluster';

/** Throws where the package is not installed. */
export async function loadCluster(): Promise<Cluster> {
  try {
    const { cluster } = (await import(PACKAGE)) as { readonly cluster: Cluster };
    return cluster;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !String(cause).includes(PACKAGE)) throw cause;
    throw new Error(
      `A gateway of a cluster needs the package ${PACKAGE}: run "npm install ${PACKAGE}" where the gateway is installed (the Debian package and the container image have it).`,
      { cause },
    );
  }
}
