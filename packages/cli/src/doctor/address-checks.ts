/**
 * Checks the addresses of a gateway: its own, and the public one with its proxy. The requests store
 * nothing: they read, or have a body that a gateway refuses.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { fault, type Finding, ok, reasonOf, warning } from './finding.ts';

const PATIENCE_MS = 10_000;
/** A line of 2 Mbit/s needs more than a minute for the large body. */
const LARGE_BODY_PATIENCE_MS = 120_000;
const CLOCK_SLACK_MS = 60_000;
/** More than the 1 MiB and 10 MiB at which proxies often refuse. */
const LARGE_BODY = 16 * 1024 * 1024;
/** The largest body that is read as a log's head, which has some hundred bytes. */
const LARGE_HEAD = 65_536;
const LONG_QUERY = 12_000;
const PROXY = 'See "Behind a proxy" in docs/operating.md.';

/** The name of the gateway's log; undefined if no gateway answers. */
type LogName = string | undefined;

/** `url`: where the gateway listens, if that is no UNIX socket. */
export async function checkAddresses(
  url: string | undefined,
  publicUrl: string | undefined,
): Promise<readonly Finding[]> {
  const own = url === undefined ? undefined : await logAt(url).catch(() => undefined);
  const findings = [describeOwn(url, own)];
  if (publicUrl === undefined) return findings;
  try {
    const found = await logAt(publicUrl);
    return [...findings, comparePublic(publicUrl, found, own), ...(await checkProxy(publicUrl))];
  } catch (error) {
    const mend = 'Look at DNS, the firewall, the certificate, and whether proxy and gateway run.';
    return [...findings, fault('public address', `${publicUrl}: ${reasonOf(error)}`, mend)];
  }
}

function describeOwn(url: string | undefined, own: LogName): Finding {
  if (url === undefined)
    return ok('gateway', 'not asked: it has a UNIX socket or one that is passed to it');
  return ok('gateway', own === undefined ? `none answers at ${url} now` : `one runs at ${url}`);
}

function comparePublic(publicUrl: string, found: string, own: LogName): Finding {
  const check = 'public address';
  if (own === undefined) return ok(check, `a gateway answers at ${publicUrl}`);
  if (own === found) return ok(check, `${publicUrl} leads to this gateway`);
  return fault(check, `${publicUrl} leads to another gateway, of another log`, PROXY);
}

async function logAt(url: string): Promise<string> {
  const found: unknown = JSON.parse(await beginningOf(await request(`${url}/api/log/head`)));
  if (typeof found !== 'object' || found === null || !('log' in found))
    throw new Error('No gateway answers there.');
  return String(found.log);
}

/** The text of a body. Throws if it is too long for a log's head: another server's answer may never end. */
async function beginningOf(response: Response): Promise<string> {
  const body: AsyncIterable<Uint8Array> | null = response.body;
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > LARGE_HEAD) throw new Error('No gateway answers there.');
  }
  return text;
}

function request(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), ...init });
}

async function checkProxy(url: string): Promise<readonly Finding[]> {
  return await Promise.all(
    [checkTime, checkStreams, checkBodies, checkQueries, checkHeaders].map(async (check) => {
      try {
        return await check(url);
      } catch (error) {
        return fault('proxy', `${url} does not answer as it should: ${reasonOf(error)}`, PROXY);
      }
    }),
  );
}

async function checkTime(url: string): Promise<Finding> {
  const { headers } = await request(`${url}/healthz`);
  const ahead = Date.parse(headers.get('date') ?? '') - Date.now();
  if (!(Math.abs(ahead) > CLOCK_SLACK_MS))
    return ok('time', 'this clock and that of the address agree');
  const text = `this clock and that of ${url} differ by ${Math.round(Math.abs(ahead) / 1000)} s`;
  return warning('time', text, 'Set both, by NTP (timedatectl set-ntp true).');
}

/** A gateway sends the first event at once. If it does not arrive, a proxy buffers the response. */
async function checkStreams(url: string): Promise<Finding> {
  const ending = new AbortController();
  const init = { headers: { Accept: 'text/event-stream' }, signal: ending.signal };
  const firstEvent = async (): Promise<boolean> => {
    const response = await fetch(`${url}/api/entries`, init);
    await response.body?.getReader().read();
    return true;
  };
  try {
    const arrived = await Promise.race([firstEvent(), sleep(PATIENCE_MS, false, { ref: false })]);
    if (arrived) return ok('streams', 'events arrive at once');
    return fault(
      'streams',
      `no event has arrived within ${PATIENCE_MS / 1000} s: they are buffered`,
      PROXY,
    );
  } finally {
    ending.abort();
  }
}

/** Sends a body whose JSON breaks off at the very end: a gateway reads it whole, and stores nothing. */
async function checkBodies(url: string): Promise<Finding> {
  const body = `{"text":"${'x'.repeat(LARGE_BODY)}"`;
  const signal = AbortSignal.timeout(LARGE_BODY_PATIENCE_MS);
  const { status } = await request(`${url}/api/shepit`, { method: 'POST', body, signal });
  if (status === 400) return ok('large bodies', `${LARGE_BODY / 1024 / 1024} MiB pass`);
  return fault(
    'large bodies',
    `a body of ${LARGE_BODY / 1024 / 1024} MiB is answered ${status}`,
    PROXY,
  );
}

async function checkQueries(url: string): Promise<Finding> {
  const { status } = await request(`${url}/api/entries?limit=1&identity=${'x'.repeat(LONG_QUERY)}`);
  if (status === 200) return ok('long queries', `${LONG_QUERY} bytes pass`);
  return warning('long queries', `one of ${LONG_QUERY} bytes is answered ${status}`, PROXY);
}

/** Checks the headers that keep answers out of caches and let pages elsewhere read them. */
async function checkHeaders(url: string): Promise<Finding> {
  const check = 'headers';
  const { headers } = await request(`${url}/healthz`);
  if (headers.get('cache-control')?.includes('no-store') !== true)
    return fault(check, 'Cache-Control: no-store is dropped: answers may come from a cache', PROXY);
  if (headers.get('access-control-allow-origin') === null)
    return warning(
      check,
      'Access-Control-Allow-Origin is dropped: pages elsewhere cannot read',
      PROXY,
    );
  return ok(check, 'those of the gateway arrive');
}
