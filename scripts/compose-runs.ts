/**
 * Prints the arguments of `podman run` for each service of a compose file, a line each, for
 * `deploy/container/try.sh`: `compose-runs.ts FILE VARIABLE=VALUE…`. Limits and health checks are left out.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { parse } from 'yaml';

import { asArray, asObject, asString, type JsonObject } from '../conformance/value.ts';

const [file = '', ...given] = process.argv.slice(2);
const filled = readFileSync(file, 'utf8').replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name: string) => {
  return given.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
});

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const path = (source: string): string =>
  source.startsWith('.') ? resolve(dirname(file), source) : source;

/** Members that are lists, and the options that take each of their texts. */
const LISTS = [
  ['cap_drop', '--cap-drop'],
  ['security_opt', '--security-opt'],
  ['env_file', '--env-file'],
  ['ports', '--publish'],
  ['volumes', '--volume'],
  ['tmpfs', '--tmpfs'],
] as const;

for (const [name, value] of Object.entries(asObject(asObject(parse(filled))['services']))) {
  const service = asObject(value);
  const [program, ...args] = textsIn(service, 'entrypoint');
  const [, shared] = asString(service['network_mode'] ?? '').split('service:');
  const network = shared === undefined ? 'presence' : `container:${shared}`;
  const words = [
    '--name',
    name,
    '--network',
    network,
    ...(shared === undefined ? ['--network-alias', name] : []),
    ...(service['read_only'] === true ? ['--read-only'] : []),
    ...(service['init'] === true ? ['--init'] : []),
    ...Object.entries(asObject(service['environment'] ?? {})).flatMap(([key, text]) => {
      return ['--env', `${key}=${asString(text)}`];
    }),
    ...LISTS.flatMap(([member, option]) =>
      textsIn(service, member).flatMap((text) => [option, path(text)]),
    ),
    ...(program === undefined ? [] : ['--entrypoint', program]),
    asString(service['image'] ?? 'open-presence'),
    ...args,
  ];
  console.log(words.map(quoted).join(' '));
}

function textsIn(service: JsonObject, member: string): readonly string[] {
  return asArray(service[member] ?? []).map(asString);
}
