/** The texts of a posted form's fields, as HTML: read again for each of them, so that none is held. */
import { MultipartError } from '../../../intake/forms/multipart-reader.ts';
import type { FieldHandler } from '../../../intake/forms/form-members.ts';
import type { PostedForm } from './posted-form.ts';

/** In bytes. */
const MAX_NAME_SIZE = 256;
const MAX_SHORT_SIZE = 1024;

const WHITE_SPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d]);
const ESCAPED: Readonly<Record<number, string>> = {
  0x22: '&quot;',
  0x26: '&amp;',
  0x27: '&#39;',
  0x3c: '&lt;',
  0x3e: '&gt;',
};

/** Undefined for a byte that stands for itself. HTML may have no controls but white space. */
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

/** Calls back with the start of each name, and with the pieces of its values. */
abstract class NamedFields implements FieldHandler {
  #name: Buffer = Buffer.alloc(0);
  #isNamed = false;

  name(bytes: Uint8Array): void {
    if (this.#name.length < MAX_NAME_SIZE) this.#name = Buffer.concat([this.#name, bytes]);
  }

  value(bytes: Uint8Array): void {
    this.#start();
    this.onValue(bytes);
  }

  endField(): void {
    this.#start();
    this.onEnd();
    this.#name = Buffer.alloc(0);
    this.#isNamed = false;
  }

  #start(): void {
    if (!this.#isNamed) this.onName(this.#name.toString());
    this.#isNamed = true;
  }

  protected abstract onName(name: string): void;
  protected abstract onValue(bytes: Uint8Array): void;
  protected abstract onEnd(): void;
}

class FieldText extends NamedFields {
  readonly #wanted: string;
  #isWanted = false;
  #found = 0;
  html: Buffer[] = [];

  constructor(wanted: string) {
    super();
    this.#wanted = wanted;
  }

  protected onName(name: string): void {
    this.#isWanted = name === this.#wanted && this.#found === 0;
  }

  protected onValue(bytes: Uint8Array): void {
    if (this.#isWanted) this.html.push(escaped(bytes));
  }

  protected onEnd(): void {
    if (this.#isWanted) this.#found += 1;
  }
}

/** The first value of this field as HTML; nothing without one. */
export async function* fieldHtml(
  form: PostedForm,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  const field = new FieldText(name);
  for await (const _ of untilBroken(form.read(field))) yield* field.html.splice(0);
}

class OtherFields extends NamedFields {
  readonly #shown: ReadonlySet<string>;
  readonly #found = new Set<string>();
  #isOther = false;
  html: Buffer[] = [];

  constructor(shown: ReadonlySet<string>) {
    super();
    this.#shown = shown;
  }

  protected onName(name: string): void {
    const isRepeated = this.#found.has(name);
    if (this.#shown.has(name)) this.#found.add(name);
    this.#isOther = !this.#shown.has(name) || isRepeated;
    if (!this.#isOther) return;
    const html = escaped(Buffer.from(name)).toString();
    const start = `<div class="field"><label>${html}<textarea name="${html}" rows="1" dir="auto">\n`;
    this.html.push(Buffer.from(start));
  }

  protected onValue(bytes: Uint8Array): void {
    if (this.#isOther) this.html.push(escaped(bytes));
  }

  protected onEnd(): void {
    if (this.#isOther) this.html.push(Buffer.from('</textarea></label></div>'));
  }
}

/** Fields for what the form has beside the fields that are shown. */
export async function* otherFieldsHtml(
  form: PostedForm,
  shown: ReadonlySet<string>,
): AsyncGenerator<Buffer, void, undefined> {
  const fields = new OtherFields(shown);
  for await (const _ of untilBroken(form.read(fields))) yield* fields.html.splice(0);
}

class ShortFields extends NamedFields {
  readonly #names: ReadonlySet<string>;
  readonly #values = new Map<string, Buffer>();
  #name = '';

  constructor(names: ReadonlySet<string>) {
    super();
    this.#names = names;
  }

  get(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === undefined || value.length > MAX_SHORT_SIZE ? undefined : value.toString();
  }

  protected onName(name: string): void {
    this.#name = name;
  }

  protected onValue(bytes: Uint8Array): void {
    const value = this.#values.get(this.#name) ?? Buffer.alloc(0);
    if (!this.#names.has(this.#name) || value.length > MAX_SHORT_SIZE) return;
    this.#values.set(this.#name, Buffer.concat([value, bytes]));
  }

  protected onEnd(): void {}
}

/** The values of these fields by name, without those of more than a kilobyte. */
export async function shortFields(
  form: PostedForm,
  names: ReadonlySet<string>,
): Promise<{ get(name: string): string | undefined }> {
  const fields = new ShortFields(names);
  for await (const _ of untilBroken(form.read(fields)));
  return fields;
}

/** Ends where the form is no longer one: what came before it is shown. */
async function* untilBroken(
  steps: AsyncGenerator<void, void, undefined>,
): AsyncGenerator<void, void, undefined> {
  try {
    yield* steps;
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error;
  }
}
