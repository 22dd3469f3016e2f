/** Members that the visitor names: a row of name, value and type each. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { useWords } from '../../shell.ts';
import { MoreButton } from './fields.tsx';
import type { MemberRow } from './form-content.ts';

interface MemberRowsProps {
  readonly rows: readonly MemberRow[];
  /** By name of the member. */
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: () => void;
}

interface KeyedRow extends MemberRow {
  readonly id: number;
}

const EMPTY: MemberRow = { name: '', value: '', isJson: false };

export function MemberRows({ rows: initial, errors, onChange }: MemberRowsProps): VNode {
  const { speaking } = useWords();
  const [rows, setRows] = useState<readonly KeyedRow[]>(
    initial.map((row, index) => ({ ...row, id: index })),
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
      <button type="button" class="more" onClick={onRemove}>
        {speaking.removeMember}
      </button>
      {error !== undefined && <p class="field-error">{error}</p>}
    </div>
  );
}
