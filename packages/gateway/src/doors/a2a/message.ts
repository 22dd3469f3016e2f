/** What a message must be before the SDK reads it: it would change or drop what is no such thing. */
import { GatewayError, type Fault } from '@open-presence/protocol';

import { isFields } from './giving.ts';

const CONTENTS = ['text', 'data', 'raw', 'url'];
const EXAMPLE = { messageId: '1', role: 'ROLE_USER', parts: [{ text: '…' }] };

/** Throws unless what was sent has a message, of parts that each say one thing. */
export function assertMessage(sent: unknown): void {
  const faults = faultsIn(sent);
  if (faults.length === 0) return;
  const [first] = faults;
  const detail = `Cannot read the message: ${first?.detail}, as in ${JSON.stringify({ message: EXAMPLE })}.`;
  throw new GatewayError('invalid-entry', detail, { faults, example: { message: EXAMPLE } });
}

/** So many are told. */
const MOST = 10;

function faultsIn(sent: unknown): Fault[] {
  if (!isFields(sent)) return [{ pointer: '', detail: 'it must be an object' }];
  const { message, metadata, configuration } = sent;
  if (!isFields(message)) return [{ pointer: '/message', detail: '"message" must be an object' }];
  const { parts } = message;
  const faults = [
    ...objectAt('/metadata', metadata),
    ...objectAt('/message/metadata', message['metadata']),
    ...modesAt('/configuration', configuration),
  ];
  if (!Array.isArray(parts) || parts.length === 0) {
    const detail = '"parts" must be a list of at least one part';
    return [...faults, { pointer: '/message/parts', detail }];
  }
  for (const [at, part] of parts.entries()) {
    if (faults.length >= MOST) break;
    faults.push(...partFaults(`/message/parts/${at}`, part));
  }
  return faults;
}

function partFaults(pointer: string, part: unknown): Fault[] {
  if (!isFields(part)) return [{ pointer, detail: 'each part must be an object' }];
  const faults = objectAt(`${pointer}/metadata`, part['metadata']);
  const { kind, text } = part;
  // A part of 0.3 says by its kind that it is a text.
  if ((kind === 'text' || (text ?? undefined) !== undefined) && typeof text !== 'string') {
    faults.push({ pointer: `${pointer}/text`, detail: '"text" must be a string' });
  }
  if (kind === 'file' && !isFields(part['file'])) {
    faults.push({ pointer: `${pointer}/file`, detail: '"file" must be an object' });
  }
  const said = CONTENTS.filter((name) => part[name] !== undefined && part[name] !== null);
  if (said.length > 1) {
    const detail = `a part must have only one of ${said.join(' and ')}; use a second part for the other`;
    faults.push({ pointer, detail });
  }
  return faults;
}

function objectAt(pointer: string, value: unknown): Fault[] {
  if (value === undefined || value === null || isFields(value)) return [];
  return [{ pointer, detail: '"metadata" must be an object' }];
}

function modesAt(pointer: string, configuration: unknown): Fault[] {
  const modes = isFields(configuration) ? (configuration['acceptedOutputModes'] ?? []) : [];
  if (Array.isArray(modes) && modes.every((mode) => typeof mode === 'string')) return [];
  const detail = '"acceptedOutputModes" must be a list of strings';
  return [{ pointer: `${pointer}/acceptedOutputModes`, detail }];
}
