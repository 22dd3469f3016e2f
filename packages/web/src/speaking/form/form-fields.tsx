/** The fields of an entry of one kind, in the order in which they are filled in. */
import { isolated } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { MoreButton } from '../../more-button.tsx';
import type { FieldText } from '../../page-data.ts';
import { useShell, useWords } from '../../shell.ts';
import {
  LineField,
  ListField,
  OTHER_FIELDS,
  RoomField,
  SlotsContext,
  TextField,
  TypeField,
} from './fields.tsx';
import type { FormContent, MemberRow } from './form-content.ts';
import {
  AUTHOR_FIELDS,
  forgetAuthor,
  prefillAuthor,
  rememberedAuthor,
} from './remembered-author.ts';
import type { SpeakFormProps } from './speak-form-props.ts';

interface FormFieldsProps extends SpeakFormProps {
  readonly form: string;
  readonly content: FormContent;
  /** By name of the field or member. */
  readonly errors: Readonly<Record<string, string>>;
  readonly file: File | undefined;
  readonly onAttach: (file: File | undefined) => void;
  readonly onChange: () => void;
}

export function FormFields(props: FormFieldsProps): VNode {
  const { kind, form, content, errors, file, onAttach } = props;
  const shell = useShell();
  const { search, speaking } = useWords();
  const slots = useContext(SlotsContext);
  const kindText = shell.kinds[kind];
  const { fields } = kindText;
  const valuesOf = (name: string): string[] =>
    content.values.filter(([named]) => named === name).map(([, value]) => value);
  const propsOf = (field: Pick<FieldText, 'name' | 'meaning'>) => ({
    id: `${form} ${field.name}`.replaceAll(/[^\w-]/g, '-'),
    field,
    values: valuesOf(field.name),
    error: errors[field.name],
  });
  const to = { name: 'to', meaning: `${speaking.to} (${speaking.optional})` };
  const isFree = fields.every(({ required }) => !required);
  const isMoreUsed =
    valuesOf('to').length > 0 ||
    content.rows.length > 0 ||
    file !== undefined ||
    ['to', 'room'].some((name) => errors[name] !== undefined);
  const text = fields.find(({ name }) => name === 'text');
  return (
    <>
      {text !== undefined && (
        <div
          onPaste={(event) => {
            const pasted = largePaste(event, speaking.pasted);
            if (pasted !== undefined) onAttach(pasted);
          }}
        >
          <TextField {...propsOf(text)} />
        </div>
      )}
      <Author {...props} fields={fields} propsOf={propsOf} />
      {fields
        .filter(({ name }) => name !== 'text' && !AUTHOR_FIELDS.has(name))
        .map((field) =>
          field.type === 'strings' ? (
            <ListField key={field.name} {...propsOf(field)} more={speaking.anotherSeeking} />
          ) : (
            <LineField key={field.name} {...propsOf(field)} />
          ),
        )}
      {props.room !== undefined && <input type="hidden" name="room" value={props.room} />}
      {props.inReplyTo !== undefined && (
        <input type="hidden" name="inReplyTo" value={props.inReplyTo} />
      )}
      {kind !== 'resonance' && (
        <details class="more-fields" open={isMoreUsed}>
          <summary>{speaking.more}</summary>
          <ListField
            {...propsOf(to)}
            values={valuesOf('to').length > 0 ? valuesOf('to') : (props.to ?? [])}
            more={speaking.anotherName}
          />
          {props.room === undefined && props.inReplyTo === undefined && (
            <RoomField
              {...propsOf({ name: 'room', meaning: search.room })}
              values={[valuesOf('room')[0] ?? kindText.room]}
            />
          )}
          {text !== undefined && <Attachment {...props} />}
          {isFree && <MemberRows {...props} />}
        </details>
      )}
      {slots[OTHER_FIELDS] !== undefined && <div>{slots[OTHER_FIELDS]}</div>}
    </>
  );
}

interface AuthorProps extends FormFieldsProps {
  readonly fields: readonly FieldText[];
  readonly propsOf: (field: FieldText) => Parameters<typeof LineField>[0];
}

function Author({ fields, propsOf, content, onChange }: AuthorProps): VNode {
  const { speaking } = useWords();
  const element = useRef<HTMLDivElement>(null);
  const [isRemembered, setRemembered] = useState(false);
  const [isForgotten, setForgotten] = useState(false);
  // A layout effect: the fields are filled in before the visitor can see them or type.
  useLayoutEffect(() => {
    setRemembered(rememberedAuthor() !== undefined);
    if (content.values.length === 0 && element.current !== null) prefillAuthor(element.current);
  }, []);
  const forget = (): void => {
    forgetAuthor();
    setRemembered(false);
    setForgotten(true);
    for (const input of element.current?.querySelectorAll('input') ?? []) input.value = '';
    onChange();
  };
  return (
    <div class="author" ref={element}>
      {fields
        .filter(({ name }) => AUTHOR_FIELDS.has(name))
        .map((field) =>
          field.name === 'identityType' ? (
            <TypeField
              key={`${field.name} ${isForgotten}`}
              {...propsOf(field)}
              {...(isForgotten && { values: [] })}
            />
          ) : (
            <LineField key={field.name} {...propsOf(field)} />
          ),
        )}
      {isRemembered && (
        <p class="hint">
          {speaking.remembered} <MoreButton onClick={forget}>{speaking.forget}</MoreButton>
        </p>
      )}
    </div>
  );
}

/** In UTF-16 code units. A longer text would make the field slow. */
const MAX_PASTED = 1_000_000;

/** A large pasted text as a file. Keeps it out of the field. */
function largePaste(event: ClipboardEvent, name: string): File | undefined {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (text.length <= MAX_PASTED) return undefined;
  event.preventDefault();
  return new File([text], name);
}

function Attachment({ file, onAttach }: FormFieldsProps): VNode {
  const { entry, speaking } = useWords();
  const choose = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const chosen = input.files?.[0];
    input.value = '';
    if (chosen !== undefined) onAttach(chosen);
  };
  return (
    <div class="attachment needs-script">
      {file === undefined ? (
        <label class="more">
          {speaking.file}
          <input type="file" title={speaking.fileMeaning} onChange={choose} />
        </label>
      ) : (
        <p>
          {speaking.attached(isolated(file.name), entry.size(file.size))}{' '}
          <MoreButton onClick={() => onAttach(undefined)}>{speaking.removeFile}</MoreButton>
        </p>
      )}
    </div>
  );
}

interface KeyedRow extends MemberRow {
  readonly id: number;
}

const EMPTY: MemberRow = { name: '', value: '', isJson: false };

/** Members that the visitor names: a row of name, value and type each. */
function MemberRows({ content, errors, onChange }: FormFieldsProps): VNode {
  const { speaking } = useWords();
  const [rows, setRows] = useState<readonly KeyedRow[]>(
    content.rows.map((row, index) => ({ ...row, id: index })),
  );
  const add = (): void => {
    const id = 1 + Math.max(-1, ...rows.map((row) => row.id));
    setRows([...rows, { ...EMPTY, id }]);
  };
  const remove = (id: number): void => {
    setRows(rows.filter((row) => row.id !== id));
    onChange();
  };
  return (
    <fieldset class="members">
      <legend>{speaking.members}</legend>
      <p class="hint">{speaking.membersMeaning}</p>
      {rows.map((row) => (
        <Row key={row.id} row={row} errors={errors} onRemove={() => remove(row.id)} />
      ))}
      <MoreButton onClick={add}>{speaking.addMember}</MoreButton>
    </fieldset>
  );
}

interface RowProps {
  readonly row: KeyedRow;
  readonly errors: Readonly<Record<string, string>>;
  readonly onRemove: () => void;
}

function Row({ row, errors, onRemove }: RowProps): VNode {
  const { speaking } = useWords();
  const name = useRef<HTMLInputElement>(null);
  const error = errors[name.current?.value ?? row.name];
  return (
    <div class="member-row">
      <input
        ref={name}
        data-part="name"
        type="text"
        dir="auto"
        autocomplete="off"
        aria-label={speaking.memberName}
        placeholder={speaking.memberName}
        defaultValue={row.name}
      />
      <textarea
        data-part="value"
        rows={1}
        dir="auto"
        aria-label={speaking.memberValue}
        placeholder={speaking.memberValue}
        defaultValue={row.value}
      />
      <select data-part="type" aria-label={speaking.memberType}>
        <option value="text">{speaking.asText}</option>
        <option value="json" selected={row.isJson}>
          {speaking.asJson}
        </option>
      </select>
      <MoreButton onClick={onRemove}>{speaking.removeMember}</MoreButton>
      {error !== undefined && <p class="field-error">{error}</p>}
    </div>
  );
}
