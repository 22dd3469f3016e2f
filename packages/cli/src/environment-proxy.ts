/** Sends requests through the proxies that `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name, as curl does. */
import type * as NodeHttp from 'node:http';
import { createRequire } from 'node:module';

/** Always added to `NO_PROXY`: a proxy cannot reach a gateway on this machine. */
const THIS_MACHINE = 'localhost,127.0.0.1,::1,[::1]';

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws if a variable is not the address of a proxy. */
export function useProxies(environment: Environment): void {
  const named = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name];
  const httpProxy = named('HTTP_PROXY');
  const httpsProxy = named('HTTPS_PROXY');
  const others = named('NO_PROXY');
  // `*` alone means every host: no request goes through a proxy.
  if (others === '*' || (httpProxy === undefined && httpsProxy === undefined)) return;
  // An `import` of it would load an HTTP client, which serving threads do not need.
  const http = createRequire(import.meta.url)('node:http') as typeof NodeHttp;
  // Node.js before 25.4 may lack it.
  if (!('setGlobalProxyFromEnv' in http)) return;
  http.setGlobalProxyFromEnv({
    ...(httpProxy === undefined ? {} : { HTTP_PROXY: httpProxy }),
    ...(httpsProxy === undefined ? {} : { HTTPS_PROXY: httpsProxy }),
    NO_PROXY: others === undefined ? THIS_MACHINE : `${others},${THIS_MACHINE}`,
  });
}
