/**
 * The form for an entry of one kind.
 *
 * Without scripts, the browser posts it to the API. With scripts, it keeps what is typed on this device as a
 * draft until the gateway has stored the entry.
 */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { FormProblem } from '../../page-data.ts';
import { href, pathOf, useShell, useWords } from '../../shell.ts';
import { FirstContactAnswer } from '../first-contact-answer.tsx';
import {
  bodyOf,
  type FormContent,
  InvalidMember,
  isBlank,
  readForm,
  saysNothing,
} from './form-content.ts';
import { FormError } from './fields.tsx';
import { FormFields } from './form-fields.tsx';
import { asksForName, rememberAuthorIn } from './remembered-author.ts';
import { newIdempotencyKey, send, type StoredEntry } from '../send.ts';
import { formName, namesIn, type SpeakFormProps } from './speak-form-props.ts';
import { formId, readDraft, storeDraft, useDraft } from './draft.ts';

const EMPTY: FormContent = { values: [], rows: [] };

export function SpeakForm(props: SpeakFormProps): VNode {
  const shell = useShell();
  const { speaking } = useWords();
  const page = pathOf(shell);
  const form = formId(page, formName(props));
  const [shown, setShown] = useState({ content: EMPTY, version: 0, takesFocus: false });
  const [sent, setSent] = useState<StoredEntry>();
  const [typed] = useState(() => typedBefore(form));
  const show = (content: FormContent, takesFocus = false): void =>
    setShown(({ version }) => ({ content, version: version + 1, takesFocus }));
  // A form that the server has rendered is on the page already.
  const [isRestored, setRestored] = useState(props.idempotencyKey !== undefined);
  const { onRestored } = props;
  useEffect(() => {
    const content = typed ?? readDraft(form);
    if (content !== undefined) show(content);
    setRestored(true);
  }, []);
  useEffect(() => {
    if (isRestored) onRestored?.();
  }, [isRestored]);
  if (!isRestored) return <></>;
  return (
    <>
      <EmptyOrRestoredForm
        {...props}
        key={shown.version}
        form={form}
        page={shell.url}
        content={shown.content}
        takesFocus={shown.takesFocus}
        onSend={() => setSent(undefined)}
        onSent={(entry, isUnchanged) => {
          setSent(entry);
          if (isUnchanged) show(EMPTY, hasFocus(form));
        }}
      />
      {sent?.companions !== undefined && <FirstContactAnswer entry={sent} />}
      <p class="hint" role="status">
        {sent !== undefined && (
          <a href={href(shell, `/entries/${sent.id}`)}>{speaking.stored(sent.seq)}</a>
        )}
      </p>
    </>
  );
}

function hasFocus(form: string): boolean {
  return document.activeElement?.closest('form')?.dataset['form'] === form;
}

/** What the visitor typed into a form that the server rendered, before the script took it over. */
function typedBefore(form: string): FormContent | undefined {
  if (typeof document === 'undefined') return undefined;
  const element = Array.from(document.forms).find(({ dataset }) => dataset['form'] === form);
  const content = element === undefined ? EMPTY : readForm(element);
  return saysNothing(content) ? undefined : content;
}

interface FormProps extends SpeakFormProps {
  /** The id of the form, by which its draft is stored. */
  readonly form: string;
  readonly page: string;
  /** What was typed before. */
  readonly content: FormContent;
  /** Whether the form takes the place of one that had the focus, which would be lost for the keyboard. */
  readonly takesFocus: boolean;
  readonly onSend: () => void;
  /** `isUnchanged`: the form still shows what was sent. */
  readonly onSent: (entry: StoredEntry, isUnchanged: boolean) => void;
}

function EmptyOrRestoredForm(props: FormProps): VNode {
  const { kind, room, inReplyTo, form, page, content, problem, takesFocus, onSend, onSent } = props;
  const shell = useShell();
  const { speaking } = useWords();
  const kindText = shell.kinds[kind];
  const element = useRef<HTMLFormElement>(null);
  const initial = useRef<string | undefined>(undefined);
  const [file, setFile] = useState(content.file);
  const [isSending, setSending] = useState(false);
  const [key, setKey] = useState(props.idempotencyKey ?? content.key);
  const names = namesIn(kindText);
  const [errors, setErrors] = useState<FormErrors>(() =>
    problem === undefined ? { fields: {} } : errorsOf(problem, names),
  );

  const read = (): FormContent => ({
    ...(element.current === null ? EMPTY : readForm(element.current)),
    ...(file === undefined ? {} : { file }),
  });
  const changed = useDraft(form, () => {
    const typed = read();
    const isNothing = isBlank(typed) || JSON.stringify(typed) === initial.current;
    return isNothing ? undefined : { ...typed, ...(key === undefined ? {} : { key }) };
  });
  useEffect(() => {
    if (takesFocus) element.current?.querySelector('textarea')?.focus();
    if (key === undefined) setKey(newIdempotencyKey());
    // A restored draft is stored again even if nobody changes it.
    if (element.current === null || content !== EMPTY) return;
    initial.current = JSON.stringify(readForm(element.current));
  }, []);

  const sendTyped = async (): Promise<void> => {
    const typed = read();
    if (saysNothing(typed)) return setErrors({ fields: {}, message: speaking.nothing });
    if (kind === 'garden' && asksForName(typed)) {
      element.current?.querySelector<HTMLElement>('[name="identity"]')?.focus();
      return setErrors({ fields: { identity: speaking.noName } });
    }
    rememberAuthorIn(typed);
    const { locale } = shell;
    const { fields, room: defaultRoom } = kindText;
    const fixed = Object.entries({ room, inReplyTo }).flatMap(([name, value = '']) =>
      value === '' ? [] : [[name, value] as const],
    );
    const values = [...typed.values, ...fixed].filter(
      ([name, value]) => name !== 'room' || value !== defaultRoom,
    );
    const body = await bodyOf({ ...typed, values }, fields);
    const result = await send({ kind, locale, body, key: key ?? newIdempotencyKey() });
    if (result.state === 'failed')
      return setErrors({ fields: {}, message: result.reason ?? speaking.cannotSend });
    // What is sent next is another entry.
    const nextKey = newIdempotencyKey();
    setKey(nextKey);
    if (result.state === 'refused') return setErrors(errorsOf(result.problem, names));
    const now = read();
    const isUnchanged = JSON.stringify(now) === JSON.stringify(typed);
    storeDraft(form, isUnchanged ? undefined : { ...now, key: nextKey });
    onSent(result.entry, isUnchanged);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    onSend();
    setErrors({ fields: {} });
    sendTyped()
      .catch((error: unknown) => {
        if (!(error instanceof InvalidMember)) {
          return setErrors({ fields: {}, message: speaking.cannotSend });
        }
        const text = error.member === 'text' ? speaking.notText : speaking.notJson;
        setErrors({ fields: { [error.member]: text } });
      })
      .finally(() => setSending(false));
  };
  const attach = (chosen: File | undefined): void => {
    setFile(chosen);
    changed();
  };
  const returnTo = kind === 'resonance' ? '/entries/{id}' : (props.returnTo ?? `${page}#e{seq}`);
  const query = new URLSearchParams({ page: href(shell, returnTo) });
  const action = href(shell, `${kindText.path}?${query.toString()}`);
  return (
    <form
      ref={element}
      class="speak-form"
      data-form={form}
      method="post"
      encType="multipart/form-data"
      action={action}
      aria-busy={isSending}
      onSubmit={submit}
      onInput={() => changed()}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        element.current?.requestSubmit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        const dropped = event.dataTransfer?.files[0];
        if (dropped === undefined) return;
        event.preventDefault();
        attach(dropped);
      }}
    >
      {key !== undefined && <input type="hidden" name="idempotency-key" value={key} />}
      <FormError message={errors.message} />
      <FormFields
        {...props}
        errors={errors.fields}
        file={file}
        onAttach={attach}
        onChange={() => changed()}
      />
      <p class="hint">
        {speaking.openName} {kind === 'shepit' && speaking.whispersAreOpen}
      </p>
      <p class="actions row">
        <button type="submit" class="send" aria-disabled={isSending}>
          {speaking.send}
        </button>
        <span class="hint needs-script">{speaking.sendHint}</span>
      </p>
    </form>
  );
}

interface FormErrors {
  /** By name of the field or member. */
  readonly fields: Readonly<Record<string, string>>;
  /** About the form as a whole. */
  readonly message?: string;
}

/** `names` are the fields that the form shows. */
function errorsOf({ detail, faults = [] }: FormProblem, names: readonly string[]): FormErrors {
  const fields: Record<string, string> = {};
  for (const fault of faults) {
    const name = fault.parameter ?? firstToken(fault.pointer ?? '');
    if (names.includes(name)) fields[name] = fault.detail;
  }
  const isAllShown = faults.length > 0 && faults.length === Object.keys(fields).length;
  return isAllShown ? { fields } : { fields, message: detail };
}

/** The first token of a JSON Pointer (RFC 6901). */
function firstToken(pointer: string): string {
  const [, token = ''] = pointer.split('/');
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
