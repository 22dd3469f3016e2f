import type { Cluster } from './log/replica.ts';

/** Imports nothing of the gateway but its port, and is installed by those alone who use it. */
const PACKAGE: string = '@open-presence/cluster';

/** Throws where the package is not installed. */
export async function loadCluster(): Promise<Cluster> {
  const loaded = await importIfInstalled();
  if (loaded !== undefined) return loaded.cluster;
  throw new Error(
    `A gateway of a cluster needs the package ${PACKAGE}: run "npm install ${PACKAGE}" where the gateway is installed (the Debian package and the container image have it).`,
  );
}

async function importIfInstalled(): Promise<{ readonly cluster: Cluster } | undefined> {
  try {
    return (await import(PACKAGE)) as { readonly cluster: Cluster };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_MODULE_NOT_FOUND' && String(error).includes(PACKAGE)) return undefined;
    throw error;
  }
}
