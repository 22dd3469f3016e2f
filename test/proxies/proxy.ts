/**
 * A proxy with TLS in front of a gateway, from the file that `deploy/` has for it. Only addresses,
 * certificates and, where a test says so, times are replaced.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { promisify } from 'node:util';

import { freePort } from '../gateway-process.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const PATIENCE_MS = 30_000;

export const PROXIES = ['caddy', 'nginx', 'haproxy'] as const;
export type ProxyName = (typeof PROXIES)[number];

export interface ProxyOptions {
  readonly name: ProxyName;
  /** Where the proxy listens on `localhost`. */
  readonly port: number;
  /** Of the gateway: `http://127.0.0.1:PORT`, or `unix:PATH`. */
  readonly gateway: string;
  /** For its files. */
  readonly folder: string;
  /** What is replaced in the shipped file beside addresses and certificates. */
  readonly replace?: readonly (readonly [RegExp, string])[];
}

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** The certificate, which the visitor has to trust. */
  readonly certificate: string;
  readonly pid: number;
}

interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Certificate {
  readonly certificate: string;
  readonly key: string;
  /** Both in one file. */
  readonly joined: string;
}

/** Resolves once the proxy takes connections. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { name, port, folder } = options;
  await mkdir(folder, { recursive: true });
  const files = await makeCertificate(folder);
  const { program, args, env } = await LAUNCHES[name](options, files);
  const child = spawn(program, args, {
    env: { ...process.env, ...env, PATH: `${process.env['PATH']}:/usr/sbin` },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const written: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => written.push(text));
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const end = async (): Promise<void> => {
    process.off('exit', killAtExit);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    // nginx ends its workers only if it ends by itself.
    child.kill('SIGTERM');
    await exit;
  };
  try {
    await listening(child, port, () => written.join(''));
    return {
      url: `https://localhost:${port}`,
      certificate: files.certificate,
      pid: child.pid ?? 0,
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

const LAUNCHES: Readonly<
  Record<ProxyName, (options: ProxyOptions, files: Certificate) => Promise<Launch>>
> = {
  async caddy({ port, gateway, folder, replace = [] }, { certificate, key }) {
    const file = await shippedFile('caddy/Caddyfile', join(folder, 'Caddyfile'), [
      [/^\{$/m, '{\n\tadmin off'],
      ...replace,
    ]);
    return {
      program: 'caddy',
      args: ['run', '--adapter', 'caddyfile', '--config', file],
      env: {
        HOME: folder,
        PRESENCE_SITE: `https://localhost:${port}`,
        PRESENCE_HTTP_PORT: String(await freePort()),
        PRESENCE_GATEWAY: addressOf(gateway, 'unix/'),
        PRESENCE_TLS: `tls ${certificate} ${key}`,
      },
    };
  },
  async nginx({ port, gateway, folder, replace = [] }, { certificate, key }) {
    const shipped = await shippedFile('nginx/presence.conf', join(folder, 'presence.conf'), [
      [/^ *listen \[::\].*\n/gm, ''],
      [/listen 80;/, `listen 127.0.0.1:${await freePort()};`],
      [/listen 443 /, `listen 127.0.0.1:${port} `],
      [/\/etc\/ssl\/presence\/fullchain\.pem/, certificate],
      [/\/etc\/ssl\/presence\/privkey\.pem/, key],
      [/server 127\.0\.0\.1:7410;/, `server ${addressOf(gateway, 'unix:')};`],
      ...replace,
    ]);
    const main = join(folder, 'nginx.conf');
    await writeFile(
      main,
      `daemon off; user root; pid ${folder}/nginx.pid; error_log stderr warn; worker_processes 1;
      events { worker_connections 4096; }
      http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/fastcgi; scgi_temp_path ${folder}/scgi;
        uwsgi_temp_path ${folder}/uwsgi; include ${shipped}; }`,
    );
    return { program: 'nginx', args: ['-e', 'stderr', '-c', main] };
  },
  async haproxy({ port, gateway, folder, replace }, { joined }) {
    const file = await shippedFile('haproxy/haproxy.cfg', join(folder, 'haproxy.cfg'), replace);
    return {
      program: 'haproxy',
      args: ['-f', file],
      env: {
        PRESENCE_BIND: `127.0.0.1:${port}`,
        PRESENCE_CERT: joined,
        PRESENCE_GATEWAY: addressOf(gateway, 'unix@'),
      },
    };
  },
};

/** The address of a gateway, as a proxy spells it that has this before the path of a UNIX socket. */
function addressOf(gateway: string, unix: string): string {
  return gateway.startsWith('unix:') ? gateway.replace('unix:', unix) : new URL(gateway).host;
}

async function shippedFile(
  shipped: string,
  target: string,
  replace: ProxyOptions['replace'] = [],
): Promise<string> {
  let text = await readFile(join(DEPLOY, shipped), 'utf8');
  for (const [pattern, value] of replace) {
    if (!pattern.test(text)) throw new Error(`${shipped} has no ${pattern}.`);
    text = text.replace(pattern, value);
  }
  await writeFile(target, text);
  return target;
}

async function makeCertificate(folder: string): Promise<Certificate> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const joined = join(folder, 'joined.pem');
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const out = ['-keyout', key, '-out', certificate];
  await promisify(execFile)('openssl', ['req', '-x509', '-days', '2', ...curve, ...name, ...out]);
  await writeFile(joined, (await readFile(certificate, 'utf8')) + (await readFile(key, 'utf8')));
  return { certificate, key, joined };
}

async function listening(child: ChildProcess, port: number, output: () => string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > end)
      throw new Error(`The proxy does not listen: ${output()}`);
    await pause(50);
  }
}

async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const target = { port, host: 'localhost', servername: 'localhost', rejectUnauthorized: false };
  const socket = connect(target, () => resolve(true));
  socket.once('error', () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
