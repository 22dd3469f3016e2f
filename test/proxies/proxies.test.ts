// The shipped files of proxies: a large body, an event at once, and the doors' own answers, over HTTP/2.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';

import { PATIENCE_MS } from '../../conformance/until.ts';
import {
  type DataFolder,
  dataFolder,
  freePort,
  type GatewayProcess,
  startGatewayProcess,
} from '../gateway-process.ts';
import { PROXIES, startProxy } from './proxy.ts';
import { needs } from '../needs.ts';

const VISIT = join(import.meta.dirname, 'visit.fixture.ts');

for (const where of ['a port', 'a UNIX socket']) {
  suite(`behind a proxy with the shipped file, on ${where}`, () => {
    let folders: DataFolder;
    let gateway: GatewayProcess;
    before(async () => {
      folders = await dataFolder();
      const socket = `unix:${join(folders.path, 'http.sock')}`;
      const listen = where === 'a port' ? ['--threads', '1'] : ['--listen', socket];
      gateway = await startGatewayProcess({ args: listen });
    });
    after(async () => {
      await gateway[Symbol.asyncDispose]();
      await folders[Symbol.asyncDispose]();
    });

    for (const name of PROXIES) {
      test(
        `${name} passes bodies, lines, events and long queries through`,
        needs(name, 'openssl'),
        async () => {
          await using proxy = await startProxy({
            name,
            port: await freePort(),
            gateway: gateway.url,
            folder: join(folders.path, name),
          });
          // The certificate is trusted by a process of its own.
          const env = { ...process.env, NODE_EXTRA_CA_CERTS: proxy.certificate };
          const visit = [VISIT, proxy.url];
          // A proxy that passes on no more would be waited for without end.
          const options = { env, timeout: PATIENCE_MS };
          const { stdout } = await promisify(execFile)(process.execPath, visit, options);
          assert.equal(stdout, 'HTTP/2 passed\n');
        },
      );
    }
  });
}
