/** What the owner of a data folder can ask for, beside a gateway or without one. */
import { GatewayError, quoted } from '@open-presence/protocol';

import { isJsonObject } from '../json/json-object.ts';
import type { OperationsContext } from '../operations/context.ts';
import { changedNames, type HiddenNames } from '../presence/hidden-names.ts';
import { withhold, type WithholdingOrder } from '../operations/withholding/withhold.ts';
import {
  textsOf,
  type WithholdingContext,
  type WithholdingTarget,
} from '../operations/withholding/withholding-target.ts';

/** Yields JSON objects as text. Throws if the body is invalid, and what the operation throws. */
type ControlOperation = (body: unknown, signal: AbortSignal) => AsyncIterable<string>;

/** By path. */
export type ControlOperations = Readonly<Record<string, ControlOperation>>;

export const ADDRESS_PATH = '/address';
export const PREVIEW_PATH = '/withhold/preview';
export const TEXTS_PATH = '/withhold/texts';
export const WITHHOLD_PATH = '/withhold';
export const READ_ONLY_PATH = '/read-only';
export const NAMES_PATH = '/hidden-names';
export const RELOAD_PATH = '/reload';

export const NOTICES_PATH = '/notices';
export const SHOW_NOTICE_PATH = '/notices/show';
export const CLOSE_NOTICE_PATH = '/notices/close';
export const ERASE_NOTICE_PATH = '/notices/erase';

export function controlOperations(
  context: WithholdingContext & Pick<OperationsContext, 'notices'>,
): ControlOperations {
  const { notices } = context;
  return {
    [PREVIEW_PATH]: (body, signal) =>
      withhold(context, { ...orderIn(body), reason: undefined }, signal),
    [TEXTS_PATH]: (body, signal) =>
      textsOf(context, { ...targetIn(body), beneath: textIn(body, 'beneath') }, signal),
    [WITHHOLD_PATH]: (body, signal) =>
      withhold(context, { ...orderIn(body), reason: reasonIn(body) }, signal),
    async *[READ_ONLY_PATH](body) {
      const { log, mirror } = context;
      const wanted = isJsonObject(body) ? body['to'] : undefined;
      if (wanted === 'on') await log.setReadOnly(reasonIn(body));
      if (wanted === 'off') await log.setReadOnly(undefined);
      const stores = log.writable() && mirror === undefined;
      yield JSON.stringify({ readOnly: log.readOnly() ?? null, stores });
    },
    async *[NOTICES_PATH]() {
      for await (const notice of notices.list()) yield JSON.stringify(notice);
    },
    async *[SHOW_NOTICE_PATH](body) {
      for await (const part of notices.show(numberIn(body))) yield JSON.stringify(part);
    },
    async *[CLOSE_NOTICE_PATH](body) {
      yield JSON.stringify(await notices.close(numberIn(body), reasonIn(body)));
    },
    async *[ERASE_NOTICE_PATH](body) {
      yield JSON.stringify(await notices.erase(numberIn(body)));
    },
  };
}

/** Hides a name, or shows it again, and tells which are hidden. */
export function namesOperation(
  hidden: () => HiddenNames,
  hide: (hidden: HiddenNames) => void,
): ControlOperation {
  return async function* (body) {
    const { name, to } = isJsonObject(body) ? body : {};
    if (typeof name !== 'string' || name === '')
      throw new GatewayError('invalid-entry', '"name" must be a text.');
    hide(changedNames(hidden(), name, to !== 'shown'));
    yield JSON.stringify({ hidden: hidden().names });
  };
}

/** Takes a path in `language` and an address in `publicUrl`, or leaves these as they are. */
export function reloadOperation(
  reload: (changed: { readonly language?: string; readonly publicUrl?: string }) => Promise<void>,
): ControlOperation {
  return async function* (body) {
    const { language, publicUrl } = isJsonObject(body) ? body : {};
    await reload({
      ...(typeof language === 'string' && { language }),
      ...(typeof publicUrl === 'string' && { publicUrl }),
    });
    yield '{}';
  };
}

function targetIn(body: unknown): WithholdingTarget {
  const { ids = [], filters = '' } = isJsonObject(body) ? body : {};
  if (!isStrings(ids) || typeof filters !== 'string')
    throw new GatewayError('invalid-entry', '"ids" must be strings, and "filters" a query.');
  const areHidden = stateIn(body) === 'shown' || isMember(body, 'hidden');
  const namePrefix = textIn(body, 'namePrefix');
  return { ids, filters: new URLSearchParams(filters), areHidden, namePrefix };
}

function orderIn(body: unknown): Omit<WithholdingOrder, 'reason'> {
  return { ...targetIn(body), state: stateIn(body), isRandom: isMember(body, 'random') };
}

function textIn(body: unknown, name: string): string | undefined {
  const text = isJsonObject(body) ? body[name] : undefined;
  if (text === undefined || typeof text === 'string') return text;
  throw new GatewayError('invalid-entry', `${quoted(name)} must be a text.`);
}

function stateIn(body: unknown): WithholdingOrder['state'] {
  const state = isJsonObject(body) ? body['state'] : undefined;
  if (state === 'hidden' || state === 'shown') return state;
  return 'withheld';
}

function isMember(body: unknown, name: string): boolean {
  return isJsonObject(body) && body[name] === true;
}

function numberIn(body: unknown): string {
  const number = isJsonObject(body) ? body['number'] : undefined;
  if (typeof number === 'string') return number;
  throw new GatewayError('invalid-entry', '"number" must be the number of a notice.');
}

function reasonIn(body: unknown): string {
  const reason = isJsonObject(body) ? body['reason'] : undefined;
  if (typeof reason === 'string' && /\S/.test(reason)) return reason;
  throw new GatewayError('invalid-entry', '"reason" must be a text.');
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
