/**
 * Replaces a message that is erased in the stream. A replacement has everything that a copy needs of the
 * message, without the text of withheld entries. Its payload is the size of a JSON text (4 bytes,
 * little-endian), that text (see `PackedReplacement`), then the drafts as `packDrafts` writes them. Its
 * header is that of the message, but with a new nonce: the old one would give away the salts of withheld
 * entries.
 */
import {
  type DraftForm,
  type LogFormat,
  type PackedDraft,
  packDrafts,
  type RepeatForm,
  type ReplicaReader,
  type Seq,
  unpackDrafts,
  type WithheldForm,
} from '@open-presence/gateway/replica';

import type { MessageKind, PlacedMessage } from './message.ts';

export interface Replacement {
  /** The kind of the message that it replaces. */
  readonly kind: MessageKind;
  /** When the stream took that message, in ms since 1970. */
  readonly time: number;
  /** Empty for a chunk, and for a message that was not applied. */
  readonly drafts: readonly PackedDraft[];
  readonly forms: readonly DraftForm[];
  /** The name of the upload, if the message was a chunk of an upload that no draft uses. */
  readonly upload?: string | undefined;
}

/** A replacement without its drafts, as JSON with bytes in base64. */
type PackedReplacement = Omit<Replacement, 'drafts' | 'forms'> & {
  /** Forms refer to these by index: many entries may share one reason. */
  readonly reasons: readonly string[];
  readonly forms: readonly (DraftForm | PackedForm)[];
};

type PackedForm = Omit<WithheldForm, 'reason'> & { readonly reason: number };

/** The members of forms whose values are bytes. */
const BYTES: ReadonlySet<string> = new Set(['salts', 'digest', 'key']);

/** What this gateway's folder knows about the drafts of a message. */
export interface KnownDrafts {
  /** The seq of the first entry that they made; 0 if the message was not applied. */
  readonly first: Seq;
  /** By the index of each draft that made no entry: the entry that had its key, or 0. */
  readonly repeats: ReadonlyMap<number, Seq>;
  readonly withheld: ReplicaReader['withheld'];
}

/** The replacement that keeps all drafts of a message. */
export function replacementOf(
  { kind, time, nonce, payload }: PlacedMessage,
  format: LogFormat,
): Replacement {
  const drafts = unpackDrafts(new Uint8Array(payload).buffer);
  return {
    kind,
    time,
    drafts,
    forms: drafts.map((_, index) => ({ salts: format.saltsOf(nonce, index) })),
  };
}

/** The replacement without withheld entries, or without drafts if none was applied; undefined if nothing changes. */
export function withoutWithheld(
  { kind, time, drafts, forms }: Replacement,
  { first, repeats, withheld }: KnownDrafts,
  format: LogFormat,
): Replacement | undefined {
  if (first === 0) return drafts.length === 0 ? undefined : { kind, time, drafts: [], forms: [] };
  let next = first;
  let isChanged = false;
  const left = drafts.map((draft, index) => {
    const repeated = repeats.get(index);
    const seq = repeated ?? next++;
    const form = forms[index];
    const row = form !== undefined && 'salts' in form ? withheld(seq) : undefined;
    if (form === undefined || !('salts' in form) || row === undefined) return { draft, form };
    isChanged = true;
    const bare = { ...draft, key: undefined, large: undefined };
    return {
      draft: { ...bare, facets: row.facets, body: new Uint8Array(0) },
      form:
        repeated === undefined
          ? format.withheldForm(draft, form.salts, row)
          : ({ repeats: seq } satisfies RepeatForm),
    };
  });
  if (!isChanged) return undefined;
  return {
    kind,
    time,
    drafts: left.map(({ draft }) => draft),
    forms: left.flatMap(({ form }) => form ?? []),
  };
}

/** The names of the uploads that had the bodies of withheld entries. */
export function withheldUploads({ forms }: Replacement): string[] {
  return forms.flatMap((form) => ('upload' in form ? (form.upload ?? []) : []));
}

/** The replacement of a message that no copy needs. `upload`: see `Replacement`. */
export function emptyReplacement(
  { kind, time }: PlacedMessage,
  upload: string | undefined,
): Replacement {
  return { kind, time, drafts: [], forms: [], upload };
}

export function packReplacement({ drafts, ...left }: Replacement): readonly Uint8Array[] {
  const reasons = [...new Set(left.forms.flatMap((form) => ('reason' in form ? form.reason : [])))];
  const forms = left.forms.map((form) =>
    'reason' in form ? { ...form, reason: reasons.indexOf(form.reason) } : form,
  );
  const packed: PackedReplacement = { ...left, reasons, forms };
  const text = Buffer.from(
    JSON.stringify(packed, function (this: Record<string, unknown>, name, value: unknown) {
      const bytes = this[name];
      return BYTES.has(name) && bytes instanceof Uint8Array
        ? Buffer.from(bytes).toString('base64')
        : value;
    }),
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  return [size, text, new Uint8Array(packDrafts(drafts))];
}

export function unpackReplacement(payload: Uint8Array): Replacement {
  const buffer = Buffer.from(payload);
  const end = 4 + buffer.readUInt32LE(0);
  const { reasons, forms, ...left } = JSON.parse(
    buffer.toString('utf8', 4, end),
    (name, value: unknown) =>
      BYTES.has(name) && typeof value === 'string' ? Buffer.from(value, 'base64') : value,
  ) as PackedReplacement;
  return {
    ...left,
    drafts: unpackDrafts(new Uint8Array(buffer.subarray(end)).buffer),
    forms: forms.map((form) =>
      'reason' in form ? { ...form, reason: reasons[Number(form.reason)] ?? '' } : form,
    ),
  };
}
