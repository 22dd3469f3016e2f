/**
 * Files that pages load: scripts, styles, fonts and images, from the build of `packages/web`. Their names change
 * with their content. None is held in memory.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

import { GatewayError, quoted } from '@open-presence/protocol';

import { preferredEncoding, type Encoding } from '../../http/negotiation.ts';
import { IMMUTABLE, vary } from '../../http/response/headers.ts';
import { sendEncoded } from '../../http/response/response.ts';
import type { DoorRequest, ProtocolDoor } from '../context.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const HEADERS = { ...IMMUTABLE, ...vary() };

export const assetsRoute: ProtocolDoor['routes'][number] = {
  path: '/web/assets/{name}',
  // Any `Accept` gets the file.
  get: [{ type: 'application/octet-stream', handle: sendAsset }],
};

async function sendAsset(context: DoorRequest): Promise<void> {
  const { name = '' } = context.params;
  const type = TYPES[extname(name)];
  const files = await assetNames();
  if (type === undefined || !files.has(name)) {
    throw new GatewayError('not-found', `Cannot find ${quoted(name)}: no page loads it.`);
  }
  const preferred = preferredEncoding(context.request.headers['accept-encoding']);
  const encoding = files.has(`${name}.${preferred ?? ''}`) ? preferred : undefined;
  const response = { status: 200, type, headers: HEADERS, tag: `"${name}"` };
  await sendEncoded(context, response, encoding, () => readAsset(name, encoding));
}

function readAsset(name: string, encoding: Encoding | undefined): Promise<Buffer> {
  return readFile(new URL(encoding === undefined ? name : `${name}.${encoding}`, folder()));
}

/** Resolved at the first request. */
function folder(): URL {
  return new URL('../client/assets/', import.meta.resolve('@open-presence/web/renderer'));
}

let names: Promise<ReadonlySet<string>> | undefined;

function assetNames(): Promise<ReadonlySet<string>> {
  names ??= readdir(folder()).then((found) => new Set(found));
  return names;
}
