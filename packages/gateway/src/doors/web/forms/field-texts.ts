/** The texts of a posted form's fields, as HTML. The form is read again for each field, so that none is held. */
import { MultipartError } from '../../../intake/forms/multipart.ts';
import type { FieldHandler } from '../../../intake/forms/form-members.ts';
import type { PostedForm } from './posted-form.ts';

/** In bytes. */
const MAX_NAME_SIZE = 256;
const MAX_SHORT_SIZE = 1024;
const EMPTY = Buffer.alloc(0);

const WHITE_SPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d]);
const ESCAPED: Readonly<Record<number, string>> = {
  0x22: '&quot;',
  0x26: '&amp;',
  0x27: '&#39;',
  0x3c: '&lt;',
  0x3e: '&gt;',
};

/** Undefined for a byte that stands for itself. HTML may have no control characters but white space. */
function htmlOf(byte: number): string | undefined {
  return byte < 0x20 && !WHITE_SPACE.has(byte) ? '\ufffd' : ESCAPED[byte];
}

/** Bytes of UTF-8 as HTML, in an attribute or between tags. */
function escaped(bytes: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = 0; at < bytes.length; at++) {
    const entity = htmlOf(bytes[at] ?? 0);
    if (entity === undefined) continue;
    parts.push(bytes.subarray(from, at), Buffer.from(entity));
    from = at + 1;
  }
  // Readers may reuse the memory of what they pass on.
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

/** A piece of a field's value; without a value, the end of the field. */
interface FieldPiece {
  /** The start of a long name. */
  readonly name: string;
  readonly value: Uint8Array | undefined;
  readonly isFirst: boolean;
}

/** Ends where the form is no longer one: what came before it is shown. */
async function* piecesOf(form: PostedForm): AsyncGenerator<FieldPiece, void, undefined> {
  const pieces: FieldPiece[] = [];
  let bytes = EMPTY;
  let name: string | undefined;
  const add = (value?: Uint8Array): void => {
    const isFirst = name === undefined;
    name ??= bytes.toString();
    pieces.push({ name, value, isFirst });
  };
  const handler: FieldHandler = {
    name(more) {
      if (bytes.length < MAX_NAME_SIZE) bytes = Buffer.concat([bytes, more]);
    },
    value: add,
    endField() {
      add();
      bytes = EMPTY;
      name = undefined;
    },
  };
  try {
    for await (const _ of form.read(handler)) yield* pieces.splice(0);
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error;
  }
}

/** The first value of this field as HTML; nothing without one. */
export async function* fieldHtml(
  form: PostedForm,
  wanted: string,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const { name, value } of piecesOf(form)) {
    if (name !== wanted) continue;
    if (value === undefined) return;
    yield escaped(value);
  }
}

/** Fields for what the form has beside the fields that are shown. */
export async function* otherFieldsHtml(
  form: PostedForm,
  shown: ReadonlySet<string>,
): AsyncGenerator<Buffer, void, undefined> {
  const found = new Set<string>();
  let isOther = false;
  for await (const { name, value, isFirst } of piecesOf(form)) {
    if (isFirst) {
      isOther = !shown.has(name) || found.has(name);
      found.add(name);
      const html = escaped(Buffer.from(name)).toString();
      const start = `<div class="field"><label>${html}<textarea name="${html}" rows="1" dir="auto">\n`;
      if (isOther) yield Buffer.from(start);
    }
    if (isOther) yield value === undefined ? FIELD_END : escaped(value);
  }
}

const FIELD_END = Buffer.from('</textarea></label></div>');

/** The values of these fields by name, without those of more than a kilobyte. */
export async function shortFields(
  form: PostedForm,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, Buffer>();
  for await (const { name, value } of piecesOf(form)) {
    const before = values.get(name) ?? EMPTY;
    if (value === undefined || !names.has(name) || before.length > MAX_SHORT_SIZE) continue;
    values.set(name, Buffer.concat([before, value]));
  }
  const short = [...values].filter(([, { length }]) => length <= MAX_SHORT_SIZE);
  return new Map(short.map(([name, value]) => [name, value.toString()]));
}
