/** A form of the page, in use: keeps a draft of what is typed, and sends it in place. */
import { errorsOf } from '../../speaking/form-errors.ts';
import { expectOwn } from '../list.ts';
import { said } from '../news.ts';
import { filled, locale, main } from '../page.ts';
import { markOwn } from '../visit.ts';
import { showContact } from './contact.ts';
import { DraftKeeper, draftName, readDraft, storeDraft } from './draft.ts';
import { addLine, addRow, fillIn, startFields } from './fields.ts';
import {
  bodyOf,
  type FieldRule,
  type FormContent,
  InvalidMember,
  isBlank,
  readForm,
  saysNothing,
} from './form-content.ts';
import { asksForName, forgetAuthor, prefillAuthor, rememberAuthorIn } from './remembered-author.ts';
import { newIdempotencyKey, send, type StoredEntry } from './send.ts';

/** In UTF-16 code units. A longer text would make the field slow. */
const MAX_PASTED = 1_000_000;

type Words = Readonly<
  Record<
    'attached' | 'cannotSend' | 'noName' | 'notJson' | 'notText' | 'nothing' | 'pasted' | 'stored',
    string
  >
>;

export class SpeakForm {
  readonly #form: HTMLFormElement;
  readonly #onClosed: () => void;
  readonly #words: Words;
  readonly #kind: string;
  readonly #name: string;
  readonly #draft: DraftKeeper;
  #file: File | undefined;
  /** What stood in the form before anything was typed. */
  #initial = '';

  constructor(form: HTMLFormElement, onClosed: () => void) {
    this.#form = form;
    this.#onClosed = onClosed;
    this.#words = JSON.parse(form.dataset['words'] ?? '{}') as Words;
    this.#kind = form.dataset['kind'] ?? '';
    this.#name = draftName(`${this.#kind} ${this.#fixed('inReplyTo')}`);
    this.#draft = new DraftKeeper(this.#name, () => this.#unsent());
  }

  start(takesFocus: boolean): void {
    const form = this.#form;
    const draft = readDraft(this.#name);
    if (draft === undefined) prefillAuthor(form);
    else fillIn(form, draft);
    if (draft?.key !== undefined) this.#key.value = draft.key;
    // A restored draft is stored again even if nobody changes it.
    this.#initial = draft === undefined ? JSON.stringify(readForm(form)) : '';
    startFields(form);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    form.addEventListener('input', () => this.#draft.changed());
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.requestSubmit();
    });
    form.addEventListener('click', ({ target }) => {
      const button = (target as Element).closest<HTMLButtonElement>('[data-does]');
      if (button !== null) this.#do(button);
    });
    form.addEventListener('close', () => {
      this.#draft.store();
      this.#draft.stop();
    });
    this.#takeFiles();
    if (takesFocus) form.querySelector<HTMLElement>('textarea, input[type="text"]')?.focus();
  }

  get #key(): HTMLInputElement {
    return this.#form.elements.namedItem('idempotency-key') as HTMLInputElement;
  }

  /** The value of a field that the visitor does not see. */
  #fixed(name: string): string {
    return (
      this.#form.querySelector<HTMLInputElement>(`input[type="hidden"][name="${name}"]`)?.value ??
      ''
    );
  }

  #read(): FormContent {
    return { ...readForm(this.#form), ...(this.#file && { file: this.#file }) };
  }

  #unsent(): FormContent | undefined {
    const typed = this.#read();
    const isNothing = isBlank(typed) || JSON.stringify(readForm(this.#form)) === this.#initial;
    return isNothing ? undefined : { ...typed, key: this.#key.value };
  }

  #do(button: HTMLButtonElement): void {
    const { does } = button.dataset;
    if (does === 'line') addLine(button)?.focus();
    if (does === 'member') addRow(this.#form)?.focus();
    if (does === 'remove') button.closest('.member-row')?.remove();
    if (does === 'detach') this.#attach(undefined);
    if (does === 'forget') {
      forgetAuthor();
      for (const input of this.#form.querySelectorAll<HTMLInputElement>('.author input'))
        input.value = '';
      startFields(this.#form);
    }
    this.#draft.changed();
  }

  #takeFiles(): void {
    const form = this.#form;
    form
      .querySelector<HTMLInputElement>('input[type="file"]')
      ?.addEventListener('change', (event) => {
        const input = event.currentTarget as HTMLInputElement;
        this.#attach(input.files?.[0]);
        input.value = '';
      });
    form.addEventListener('dragover', (event) => event.preventDefault());
    form.addEventListener('drop', (event) => {
      const dropped = event.dataTransfer?.files[0];
      if (dropped === undefined) return;
      event.preventDefault();
      this.#attach(dropped);
    });
    form.addEventListener('paste', (event) => {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text.length <= MAX_PASTED || (event.target as HTMLElement).tagName !== 'TEXTAREA') return;
      event.preventDefault();
      this.#attach(new File([text], this.#words.pasted));
    });
  }

  #attach(file: File | undefined): void {
    const place = this.#form.querySelector<HTMLElement>('.attachment');
    const [label, shown] = [place?.querySelector('label'), place?.querySelector('p')];
    if (!label || !shown) return;
    this.#file = file;
    label.hidden = file !== undefined;
    shown.hidden = file === undefined;
    const { attached } = this.#words;
    const size = Math.ceil((file?.size ?? 0) / 1000);
    const text = shown.querySelector('span');
    if (text !== null) text.textContent = filled(attached, file?.name ?? '', size);
    const details = this.#form.querySelector('details');
    if (file !== undefined && details !== null) details.open = true;
    this.#draft.changed();
  }

  async #submit(): Promise<void> {
    if (this.#form.ariaBusy === 'true') return;
    this.#form.ariaBusy = 'true';
    this.#showErrors({});
    try {
      await this.#send();
    } catch (error) {
      const { notText, notJson, cannotSend } = this.#words;
      if (!(error instanceof InvalidMember)) this.#showErrors({}, cannotSend);
      else this.#showErrors({ [error.member]: error.member === 'text' ? notText : notJson });
    } finally {
      this.#form.ariaBusy = 'false';
    }
  }

  async #send(): Promise<void> {
    const typed = this.#read();
    if (saysNothing(typed)) return this.#showErrors({}, this.#words.nothing);
    if (this.#kind === 'garden' && asksForName(typed)) {
      this.#form.querySelector<HTMLElement>('[name="identity"]')?.focus();
      return this.#showErrors({ identity: this.#words.noName });
    }
    rememberAuthorIn(typed);
    const fixed = ['room', 'inReplyTo'].map((name): [string, string] => [name, this.#fixed(name)]);
    const values = [...typed.values, ...fixed].filter(
      ([name, value]) => name !== 'room' || value !== this.#form.dataset['room'],
    );
    const fields = JSON.parse(this.#form.dataset['fields'] ?? '[]') as FieldRule[];
    const body = await bodyOf({ ...typed, values }, fields);
    const result = await send({ kind: this.#kind, locale, body, key: this.#key.value });
    if (result.state === 'failed')
      return this.#showErrors({}, result.reason ?? this.#words.cannotSend);
    // What is sent next is another entry.
    this.#key.value = newIdempotencyKey();
    if (result.state === 'refused') {
      const names = [...fields.map(({ name }) => name), 'to', 'room'];
      const { fields: errors, message } = errorsOf(result.problem, names);
      return this.#showErrors(errors, message);
    }
    const isUnchanged = JSON.stringify(this.#read()) === JSON.stringify(typed);
    storeDraft(this.#name, isUnchanged ? undefined : this.#unsent());
    this.#showStored(result.entry, isUnchanged);
  }

  /** The form closes, unless something else was typed meanwhile. */
  #showStored(entry: StoredEntry, isUnchanged: boolean): void {
    const sent = document.createElement('p');
    sent.className = 'hint';
    sent.role = 'status';
    const link = document.createElement('a');
    link.href = `/entries/${entry.id}${location.search.includes('lang=') ? `?lang=${locale}` : ''}`;
    link.textContent = filled(this.#words.stored, entry.seq);
    sent.append(link);
    this.#form.parentElement?.querySelector(':scope > p.hint[role="status"]')?.remove();
    this.#form.after(sent);
    const contact = this.#form.querySelector<HTMLTemplateElement>('.contact-template');
    if (isUnchanged) {
      this.#draft.stop();
      this.#form.remove();
      link.focus({ preventScroll: true });
      this.#onClosed();
    }
    markOwn(entry.room, entry.seq, main.dataset['log'] ?? '');
    said.add(entry.seq);
    if (contact === null || entry.companions === undefined) return expectOwn(entry.seq);
    sent.after(showContact(contact, entry));
    const answer = sent.parentElement?.querySelector<HTMLElement>('.contact');
    answer?.focus({ preventScroll: true });
    answer?.scrollIntoView({ block: 'center' });
  }

  /** By name of the field or member; `message`: about the form as a whole. */
  #showErrors(errors: Readonly<Record<string, string>>, message?: string): void {
    const form = this.#form;
    const above = form.querySelector<HTMLElement>('.form-error');
    if (above !== null) {
      above.hidden = message === undefined;
      above.querySelector('p')?.replaceChildren(message ?? '');
    }
    for (const old of form.querySelectorAll('.field-error')) old.remove();
    for (const faulty of form.querySelectorAll('[aria-invalid]')) {
      faulty.removeAttribute('aria-invalid');
      faulty.removeAttribute('aria-describedby');
    }
    for (const [name, text] of Object.entries(errors)) showError(form, name, text);
  }
}

function showError(form: HTMLFormElement, name: string, text: string): void {
  const rows = Array.from(form.querySelectorAll<HTMLElement>('.member-row'));
  const row = rows.findLast(
    (one) => one.querySelector<HTMLInputElement>('[data-part="name"]')?.value === name,
  );
  const control = row?.querySelector('[data-part="value"]') ?? form.elements.namedItem(name);
  const field = control instanceof RadioNodeList ? control[0] : control;
  if (!(field instanceof HTMLElement)) return;
  const error = document.createElement('p');
  error.className = 'field-error';
  error.id = `${form.dataset['kind']}-${name}-error`.replaceAll(/\s/g, '-');
  error.dir = 'auto';
  error.textContent = text;
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', error.id);
  (field.closest('.member-row, .field') ?? field).append(error);
  const details = field.closest('details');
  if (details !== null) details.open = true;
}
