/** A proxy that ends an answer as if it were whole where it broke off, as nginx does by HTTP/1.0. */
import { text } from 'node:stream/consumers';

import { serve, type WebSite } from '../web-site.ts';

/** Gives the first `size` bytes of the first answer in each format at each path, then whole answers. */
export async function endingProxy(gateway: string, size: number): Promise<WebSite> {
  const seen = new Set<string>();
  return await serve((request, response) => {
    void (async () => {
      const { method = 'GET', url = '', headers } = request;
      const sent = new Headers({ Accept: headers.accept ?? '*/*' });
      for (const name of ['content-type', 'idempotency-key', 'last-event-id'])
        if (headers[name] !== undefined) sent.set(name, String(headers[name]));
      const body = method === 'POST' ? { body: await text(request) } : {};
      const answer = await fetch(gateway + url, { method, headers: sent, ...body });
      const path = `${headers.accept} ${url.split('?')[0]}`;
      const bytes = Buffer.from(await answer.arrayBuffer());
      response.end(seen.has(path) ? bytes : bytes.subarray(0, size));
      seen.add(path);
    })();
  });
}
