/** Validates messages before the SDK parses them: it would change or drop invalid values. */
import { GatewayError, type Fault } from '@open-presence/protocol';

import { isJsonObject, toJsonObject } from '../../../json/json-object.ts';

const CONTENTS = ['text', 'data', 'raw', 'url'];
const EXAMPLE = { messageId: '1', role: 'ROLE_USER', parts: [{ text: '…' }] };

/** Throws `invalid-entry` unless the params have a message of parts with one content each. */
export function assertMessage(params: unknown): void {
  const faults = faultsIn(params);
  if (faults.length === 0) return;
  const [first] = faults;
  const detail = `Cannot read the message: ${first?.detail}, as in ${JSON.stringify({ message: EXAMPLE })}.`;
  throw new GatewayError('invalid-entry', detail, { faults, example: { message: EXAMPLE } });
}

/** How many faults of one message are reported. */
const MAX_FAULTS = 10;

function faultsIn(params: unknown): Fault[] {
  if (!isJsonObject(params)) return [{ pointer: '', detail: 'it must be an object' }];
  const { message, metadata, configuration } = params;
  if (!isJsonObject(message))
    return [{ pointer: '/message', detail: '"message" must be an object' }];
  const { parts } = message;
  const faults = [
    ...metadataFaults('/metadata', metadata),
    ...metadataFaults('/message/metadata', message['metadata']),
    ...outputModeFaults('/configuration', configuration),
  ];
  if (!Array.isArray(parts) || parts.length === 0) {
    const detail = '"parts" must be a list of at least one part';
    return [...faults, { pointer: '/message/parts', detail }];
  }
  for (const [index, part] of parts.entries()) {
    if (faults.length >= MAX_FAULTS) break;
    faults.push(...partFaults(`/message/parts/${index}`, part));
  }
  return faults;
}

function partFaults(pointer: string, part: unknown): Fault[] {
  if (!isJsonObject(part)) return [{ pointer, detail: 'each part must be an object' }];
  const faults = metadataFaults(`${pointer}/metadata`, part['metadata']);
  const { kind, text } = part;
  // Parts of 0.3 have their type in `kind`.
  if ((kind === 'text' || (text ?? undefined) !== undefined) && typeof text !== 'string') {
    faults.push({ pointer: `${pointer}/text`, detail: '"text" must be a string' });
  }
  if (kind === 'file' && !isJsonObject(part['file'])) {
    faults.push({ pointer: `${pointer}/file`, detail: '"file" must be an object' });
  }
  const present = CONTENTS.filter((name) => part[name] !== undefined && part[name] !== null);
  if (present.length > 1) {
    const detail = `a part must have only one of ${present.join(' and ')}; use a second part for the other`;
    faults.push({ pointer, detail });
  }
  return faults;
}

function metadataFaults(pointer: string, value: unknown): Fault[] {
  if (value === undefined || value === null || isJsonObject(value)) return [];
  return [{ pointer, detail: '"metadata" must be an object' }];
}

function outputModeFaults(pointer: string, configuration: unknown): Fault[] {
  const modes = toJsonObject(configuration)['acceptedOutputModes'] ?? [];
  if (Array.isArray(modes) && modes.every((mode) => typeof mode === 'string')) return [];
  const detail = '"acceptedOutputModes" must be a list of strings';
  return [{ pointer: `${pointer}/acceptedOutputModes`, detail }];
}
