/** Fields that a form gains while it is filled in, and what was typed before. */
import type { FormContent } from './form-content.ts';
import { rememberedAuthor } from './remembered-author.ts';

const OWN_WORDS = 'own';

/** Shows what needs a script: the choice of common answers, and what this device remembers. */
export function startFields(form: HTMLFormElement): void {
  const remembered = form.querySelector<HTMLElement>('.remembered');
  if (remembered !== null) remembered.hidden = rememberedAuthor() === undefined;
  for (const select of form.querySelectorAll<HTMLSelectElement>('select[data-fills]')) {
    const line = select.parentElement?.querySelector('input') ?? null;
    if (line === null) continue;
    const isCommon = Array.from(select.options).some(({ value }) => value === line.value);
    select.hidden = false;
    select.value = isCommon ? line.value : OWN_WORDS;
    line.hidden = select.value !== OWN_WORDS;
    select.onchange = () => {
      const isOwn = select.value === OWN_WORDS;
      line.hidden = !isOwn;
      line.value = isOwn ? '' : select.value;
    };
  }
}

/** Another line of the list that the button belongs to. */
export function addLine(button: HTMLElement, value = ''): HTMLInputElement | undefined {
  const lines = button.parentElement?.querySelectorAll('input');
  const line = lines?.[0]?.cloneNode() as HTMLInputElement | undefined;
  if (line === undefined) return undefined;
  line.ariaLabel = button.closest('.field')?.querySelector('label')?.textContent ?? '';
  line.id = `${line.id}-${lines?.length}`;
  line.value = value;
  button.before(line);
  return line;
}

/** Another row for a member that the visitor names. */
export function addRow(form: HTMLFormElement): HTMLElement | undefined {
  const members = form.querySelector('.members');
  const row = members?.querySelector('template')?.content.cloneNode(true);
  if (row === undefined) return undefined;
  members?.querySelector('[data-does="member"]')?.before(row);
  const rows = form.querySelectorAll('.member-row');
  return rows[rows.length - 1]?.querySelector('input') ?? undefined;
}

/** Puts what was typed before into the form. */
export function fillIn(form: HTMLFormElement, { values, rows }: FormContent): void {
  const filledIn = new Set<Element>();
  for (const [name, value] of values) {
    const named = Array.from(form.elements).filter(
      (one) =>
        (one as HTMLInputElement).name === name && (one as HTMLInputElement).type !== 'hidden',
    );
    const button = named[0]?.parentElement?.querySelector<HTMLElement>('[data-does="line"]');
    const free = named.find((one) => !filledIn.has(one)) ?? (button && addLine(button));
    if (free === undefined || free === null) continue;
    (free as HTMLInputElement).value = value;
    filledIn.add(free);
  }
  for (const { name, value, isJson } of rows) {
    const row = addRow(form)?.closest('.member-row');
    for (const [part, text] of Object.entries({ name, value, type: isJson ? 'json' : 'text' })) {
      const control = row?.querySelector<HTMLInputElement>(`[data-part="${part}"]`);
      if (control) control.value = text;
    }
  }
  const details = form.querySelector('details');
  const isMoreUsed =
    rows.length > 0 || values.some(([name, value]) => name === 'to' && value !== '');
  if (details !== null && isMoreUsed) details.open = true;
}
