/** What a visitor has typed into a form, exactly as typed, and the entry that it becomes. */
import type { FieldText } from '../../page-data.ts';

export type FieldRule = Pick<FieldText, 'name' | 'type' | 'required'>;

/** A member that the visitor has named. */
interface MemberRow {
  readonly name: string;
  readonly value: string;
  /** Whether the value is JSON rather than text. */
  readonly isJson: boolean;
}

export interface FormContent {
  /** A field that is shown several times has several. */
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly rows: readonly MemberRow[];
  /** Sent after the typed text, as a part of `text`. */
  readonly file?: File;
  /** The idempotency key under which it may have been sent already. */
  readonly key?: string;
}

/** A member whose text or JSON cannot be sent. */
export class InvalidMember extends Error {
  readonly member: string;

  constructor(member: string, cause: unknown) {
    super(`"${member}" cannot be sent`, { cause });
    this.member = member;
  }
}

/**
 * The JSON of the entry. Leaves out what is empty, except for members that the kind requires. A file of
 * any size is read in pieces. Throws `InvalidMember`.
 */
export async function bodyOf(content: FormContent, fields: readonly FieldRule[]): Promise<Blob> {
  const parts: BlobPart[] = [];
  const lists = new Set(fields.filter(({ type }) => type === 'strings').map(({ name }) => name));
  const byName = Map.groupBy(valuesOf(content), ({ name }) => name);
  if (content.file !== undefined && !byName.has('text')) byName.set('text', []);
  for (const { name, required } of fields) {
    if (required && !byName.has(name))
      byName.set(name, lists.has(name) ? [] : [{ name, json: '""' }]);
  }
  for (const [name, values] of byName) {
    parts.push(`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    const texts = values.map(({ json }) => json);
    if (name === 'text' && content.file !== undefined) {
      parts.push(...(await joinFile(texts.at(0), content.file)));
    } else if (texts.length === 1 && !lists.has(name)) parts.push(...texts);
    else
      parts.push('[', ...texts.flatMap((text, index) => (index === 0 ? [text] : [',', text])), ']');
  }
  return new Blob([...parts, parts.length === 0 ? '{}' : '}'], { type: 'application/json' });
}

function valuesOf({ values, rows }: FormContent) {
  const named = values
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ({ name, json: JSON.stringify(value) }));
  const free = rows
    .filter(({ name, value }) => name !== '' || value !== '')
    .map(({ name, value, isJson }) => ({
      name,
      json: isJson ? checkedJson(name, value) : JSON.stringify(value),
    }));
  return [...named, ...free];
}

/** The text as it was typed, so that numbers keep their digits. */
function checkedJson(name: string, text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new InvalidMember(name, error);
  }
}

/** The JSON of a string that starts with a text and ends with a file. */
async function joinFile(typed: string | undefined, file: File): Promise<BlobPart[]> {
  const start = typed === undefined ? '"' : `${typed.slice(0, -1)}\\n`;
  const parts: BlobPart[] = [start];
  const decoder = new TextDecoderStream('utf-8', { fatal: true });
  try {
    for await (const piece of piecesOf(file.stream().pipeThrough(decoder))) {
      // Browsers need not keep a blob in memory.
      parts.push(new Blob([JSON.stringify(piece).slice(1, -1)]));
    }
  } catch (error) {
    throw new InvalidMember('text', error);
  }
  return [...parts, '"'];
}

/** Not every browser iterates streams by itself. */
async function* piecesOf(stream: ReadableStream<string>): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Reads the fields that the visitor can see, in their order, without the file. */
export function readForm(form: HTMLFormElement): FormContent {
  const controls = Array.from(form.elements).filter(isVisibleControl);
  return {
    values: controls
      .filter(({ name }) => name !== '')
      .map(({ name, value }) => [name, value] as const),
    rows: Array.from(form.querySelectorAll<HTMLElement>('.member-row'), readRow),
  };
}

function isVisibleControl(element: Element): element is Control {
  if (element instanceof HTMLInputElement) return !['hidden', 'file'].includes(element.type);
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;
}

function readRow(row: HTMLElement): MemberRow {
  const part = (name: string): string =>
    row.querySelector<Control>(`[data-part="${name}"]`)?.value ?? '';
  return { name: part('name'), value: part('value'), isJson: part('type') === 'json' };
}

/** Whether all fields are empty that a visitor can write into. */
export function isBlank({ values, rows }: FormContent): boolean {
  return values.every(([name, value]) => name === 'room' || value === '') && rows.length === 0;
}

/** Whether the visitor said nothing: a name or a room alone says nothing. */
export function saysNothing({ values, rows, file }: FormContent): boolean {
  const isBlank = (text: string): boolean => !/\S/.test(text);
  return (
    file === undefined &&
    values.every(([name, value]) => ABOUT.has(name) || isBlank(value)) &&
    rows.every(({ name, value }) => isBlank(name) && isBlank(value))
  );
}

/** Who says it, to whom and where. */
const ABOUT: ReadonlySet<string> = new Set(['identity', 'identityType', 'room', 'to']);
