/** Reads what stands in a form. */
import type { FormContent, MemberRow } from './form-content.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Fields that the visitor can see, in their order, without the file. */
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

/** Whether every field is empty that one can write into. */
export function isBlank({ values, rows }: FormContent): boolean {
  return values.every(([name, value]) => name === 'room' || value === '') && rows.length === 0;
}

/** Whether nothing was written: a name or a room alone says nothing. */
export function saysNothing({ values, rows, file }: FormContent): boolean {
  const isBlank = (text: string): boolean => !/\S/.test(text);
  return (
    file === undefined &&
    values.every(([name, value]) => ABOUT.has(name) || isBlank(value)) &&
    rows.every(({ name, value }) => isBlank(name) && isBlank(value))
  );
}

const ABOUT: ReadonlySet<string> = new Set(['identity', 'identityType', 'room', 'to']);
