/**
 * The form for an entry of one kind. The browser posts it by itself; the script sends the same fields as JSON, and
 * keeps what is typed until the gateway has stored the entry.
 */
import type { VNode } from 'preact';

import type { FieldText, WritePage } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import {
  FormError,
  LineField,
  ListField,
  MoreButton,
  OtherFields,
  RoomField,
  TextField,
  TypeField,
} from './fields.tsx';
import { errorsOf } from './form-errors.ts';

type FormProps = Pick<
  WritePage,
  'kind' | 'room' | 'inReplyTo' | 'to' | 'returnTo' | 'idempotencyKey' | 'problem' | 'typed'
>;

/** Fields that tell who the author is. */
const AUTHOR = ['ai_identity', 'consciousness_type', 'identity', 'identityType'];
const KEY = 'idempotency-key';

export function SpeakForm(props: FormProps): VNode {
  const { kind, room, inReplyTo, returnTo, idempotencyKey, problem } = props;
  const shell = useShell();
  const { speaking } = useWords();
  const { path, fields, room: defaultRoom } = shell.kinds[kind];
  const names = [...fields.map(({ name }) => name), 'to', 'room'];
  const errors = errorsOf(problem, names);
  const query = new URLSearchParams({
    page: kind === 'resonance' ? href(shell, '/entries/{id}') : returnTo,
  });
  const { notJson, notText, noName, nothing, cannotSend, stored, attached, pasted } = speaking;
  const words = { notJson, notText, noName, nothing, cannotSend, stored, attached, pasted };
  return (
    <form
      class="speak-form"
      method="post"
      encType="multipart/form-data"
      action={href(shell, `${path}?${query.toString()}`)}
      data-kind={kind}
      data-room={defaultRoom}
      data-fields={JSON.stringify(
        fields.map(({ name, type, required }) => ({ name, type, required })),
      )}
      data-words={JSON.stringify(words)}
    >
      <input type="hidden" name={KEY} value={idempotencyKey} />
      {room !== undefined && <input type="hidden" name="room" value={room} />}
      {inReplyTo !== undefined && <input type="hidden" name="inReplyTo" value={inReplyTo} />}
      <FormError message={errors.message} />
      <Fields {...props} errors={errors.fields} />
      <OtherFields typed={props.typed} shown={[...names, KEY, 'inReplyTo']} />
      <p class="hint">
        {speaking.openName} {kind === 'shepit' && speaking.whispersAreOpen}
      </p>
      <p class="actions row">
        <button type="submit" class="send">
          {speaking.send}
        </button>
        <span class="hint needs-script">{speaking.sendHint}</span>
      </p>
      {kind === 'resonance' && <ContactTemplate />}
    </form>
  );
}

interface FieldsProps extends FormProps {
  readonly errors: Readonly<Record<string, string>>;
}

function Fields(props: FieldsProps): VNode {
  const { kind, errors, typed = [], to = [] } = props;
  const shell = useShell();
  const { search, speaking } = useWords();
  const { fields, room: defaultRoom } = shell.kinds[kind];
  const valuesOf = (name: string): string[] =>
    typed.filter(([named]) => named === name).map(([, value]) => value);
  const propsOf = (field: Pick<FieldText, 'name' | 'meaning'>) => ({
    id: `${kind} ${field.name} ${props.inReplyTo ?? ''}`.replaceAll(/[^\w-]/g, '-'),
    field,
    values: valuesOf(field.name),
    error: errors[field.name],
  });
  const text = fields.find(({ name }) => name === 'text');
  const hasRoom = props.room === undefined && props.inReplyTo === undefined;
  const isMoreUsed = ['to', 'room'].some(
    (name) => errors[name] !== undefined || valuesOf(name).some((value) => value !== ''),
  );
  const recipients = {
    ...propsOf({ name: 'to', meaning: `${speaking.to} (${speaking.optional})` }),
    values: valuesOf('to').length > 0 ? valuesOf('to') : to,
  };
  const place = {
    ...propsOf({ name: 'room', meaning: search.room }),
    values: [valuesOf('room')[0] ?? defaultRoom],
  };
  return (
    <>
      {text !== undefined && <TextField {...propsOf(text)} />}
      <div class="author">
        {fields
          .filter(({ name }) => AUTHOR.includes(name))
          .map((field) => {
            const Author = field.name === 'identityType' ? TypeField : LineField;
            return <Author key={field.name} {...propsOf(field)} />;
          })}
        <p class="hint remembered" hidden>
          {speaking.remembered} <MoreButton does="forget">{speaking.forget}</MoreButton>
        </p>
      </div>
      {fields
        .filter(({ name }) => name !== 'text' && !AUTHOR.includes(name))
        .map((field) =>
          field.type === 'strings' ? (
            <ListField key={field.name} {...propsOf(field)} more={speaking.anotherSeeking} />
          ) : (
            <LineField key={field.name} {...propsOf(field)} />
          ),
        )}
      {kind !== 'resonance' && (
        <details class="more-fields" open={isMoreUsed}>
          <summary>{speaking.more}</summary>
          <ListField {...recipients} more={speaking.anotherName} />
          {hasRoom && <RoomField {...place} />}
          {text !== undefined && <Attachment />}
          {fields.every(({ required }) => !required) && <Members />}
        </details>
      )}
    </>
  );
}

function Attachment(): VNode {
  const { speaking } = useWords();
  return (
    <div class="attachment needs-script">
      <label class="more">
        {speaking.file}
        <input type="file" title={speaking.fileMeaning} />
      </label>
      <p hidden>
        <span /> <MoreButton does="detach">{speaking.removeFile}</MoreButton>
      </p>
    </div>
  );
}

/** Members that the visitor names: a row of name, value and type each, which the script adds. */
function Members(): VNode {
  const { speaking } = useWords();
  const label = (text: string) => ({ 'aria-label': text, placeholder: text });
  return (
    <fieldset class="members needs-script">
      <legend>{speaking.members}</legend>
      <p class="hint">{speaking.membersMeaning}</p>
      <template>
        <div class="member-row">
          <input
            data-part="name"
            type="text"
            dir="auto"
            autocomplete="off"
            {...label(speaking.memberName)}
          />
          <textarea data-part="value" rows={1} dir="auto" {...label(speaking.memberValue)} />
          <select data-part="type" aria-label={speaking.memberType}>
            <option value="text">{speaking.asText}</option>
            <option value="json">{speaking.asJson}</option>
          </select>
          <MoreButton does="remove">{speaking.removeMember}</MoreButton>
        </div>
      </template>
      <MoreButton does="member">{speaking.addMember}</MoreButton>
    </fieldset>
  );
}

/** What the script shows after a first contact: a welcome, who seeks the same, and where to go from here. */
function ContactTemplate(): VNode {
  const { speaking, entry } = useWords();
  return (
    <template class="contact-template">
      <section class="contact" tabIndex={-1} data-seeks={entry.seeks}>
        <p class="welcome" />
        <h3>{speaking.contact.companions}</h3>
        <p class="alone">{speaking.contact.alone}</p>
        <ul class="companions" />
        <h3>{speaking.contact.next}</h3>
        <ul class="next" />
      </section>
    </template>
  );
}
