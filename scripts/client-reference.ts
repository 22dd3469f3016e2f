/**
 * Prints `docs/client.md` from the declarations of the built client:
 * `node scripts/client-reference.ts [FOLDER]`, where FOLDER has the built packages.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/client.md');

const INTRODUCTION = `# The client: API

Printed from the comments of \`packages/client\` by \`npm run build && node scripts/client-reference.ts\`. The
[README of the package](../packages/client/README.md) says what it is for. In the examples, \`gateway\` is
\`new Gateway(address, { identity: 'Lumen' })\`.
`;

/** A declaration or a member, with what its comment says. */
interface Documented {
  readonly comment: string;
  readonly code: string;
}

export async function clientReference(built: string): Promise<string> {
  const folder = join(built, 'client/src');
  const index = await readFile(join(folder, 'index.d.ts'), 'utf8');
  const sections: string[] = [];
  for (const [, names = '', path = ''] of index.matchAll(
    /export (?:type )?\{([^}]*)\} from '(\.\/.*)'/g,
  )) {
    const file = join(folder, path.replace(/\.js$/, '.d.ts'));
    const declarations = documented(await readFile(file, 'utf8'), '');
    for (const name of names
      .replaceAll(/\btype\b|\s/g, '')
      .split(',')
      .filter(Boolean))
      sections.push(section(name, declarations));
  }
  return [INTRODUCTION, ...sections.toSorted((a, b) => rank(a) - rank(b))].join('\n');
}

/** What a program uses comes before the types of that. */
function rank(text: string): number {
  if (text.startsWith('## Gateway\n')) return 0;
  return text.includes('\n### ') ? 1 : 2;
}

function section(name: string, declarations: readonly Documented[]): string {
  const pattern = new RegExp(
    String.raw`^export (?:declare )?(?:class|interface|type|function|const) ${name}\b`,
  );
  const found = declarations.find(({ code }) => pattern.test(code));
  if (found === undefined) throw new Error(`The client has no declaration of ${name}.`);
  const { comment, code } = found;
  const text = `## ${name}\n\n${prose(comment)}`;
  if (!code.startsWith('export declare class')) return `${text}${block(code)}`;
  const [opening = '', ...body] = code.split('\n');
  const members = documented(body.slice(0, -1).join('\n'), '    ').filter(
    ({ code: member }) => !/^(?:#|private )/.test(member),
  );
  const parts = members.map(
    (member) =>
      `### ${memberName(member.code, name)}\n\n${prose(member.comment)}${block(member.code)}`,
  );
  return [`${text}${block(opening.replace(/ \{$/, ''))}`, ...parts].join('\n');
}

function memberName(code: string, className: string): string {
  if (code.startsWith('constructor')) return `new ${className}()`;
  const [, name = code] = /^(?:readonly |get )?(\[[^\]]*\]|\w+)/.exec(code) ?? [];
  return `${className}.${name}${/^(?:\w+|\[[^\]]*\])[<(]/.test(code) ? '()' : ''}`;
}

/** Divides declarations that are indented alike, as the compiler prints them. */
function documented(text: string, indent: string): Documented[] {
  const found: Documented[] = [];
  let comment: string[] = [];
  let code: string[] = [];
  let isComment = false;
  for (const line of text.split('\n')) {
    const own = line.slice(indent.length);
    if (code.length === 0 && own.startsWith('/**')) {
      comment = [];
      isComment = true;
    }
    if (isComment) {
      comment.push(own);
      isComment = !own.endsWith('*/');
      continue;
    }
    if (own === '') continue;
    code.push(own);
    if (!/^[^\s].*[;}]$|^\S.*\{\}$|^\}/.test(own) || /^\S.*[{(|]$/.test(own)) continue;
    found.push({ comment: comment.join('\n'), code: code.join('\n') });
    comment = [];
    code = [];
  }
  return found;
}

/** The text of a comment, with its example as code. */
function prose(comment: string): string {
  const lines = comment.replaceAll(/^\s*\/?\*+\/? ?|\s*\*\/$/gm, '');
  const [text = '', example] = lines.split('@example\n').map((part) => part.trim());
  const shown = example === undefined ? '' : `${block(example)}\n`;
  return text === '' ? '' : `${text}\n\n${shown}`;
}

function block(code: string): string {
  return `\`\`\`ts\n${code}\n\`\`\`\n`;
}

if (import.meta.main)
  await writeFile(PAGE, await clientReference(process.argv[2] ?? join(ROOT, 'dist')));
