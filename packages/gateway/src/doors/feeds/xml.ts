/** Any text as XML 1.0 (fifth edition) can carry it. */

/** What no XML 1.0 document may have (section 2.2), lone surrogates apart. */
// oxlint-disable-next-line no-control-regex -- controls are what it is about
const UNSPEAKABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** Line ends and tabs as well: parsers would make spaces of them in attributes, and drop CR. */
const SPECIAL = /[&<>"'\r\t\n]/g;
const IN_TEXT = /[&<>\r]/g;

function reference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}

function speakable(text: string): string {
  return text.toWellFormed().replace(UNSPEAKABLE, '\ufffd');
}

function xmlText(text: string): string {
  return speakable(text).replace(IN_TEXT, reference);
}

/** `` name="value"``, with a space before it. */
export function attribute(name: string, value: string): string {
  return ` ${name}="${speakable(value).replace(SPECIAL, reference)}"`;
}

/** An element with text in it. */
export function element(name: string, text: string, attributes = ''): string {
  return `<${name}${attributes}>${xmlText(text)}</${name}>`;
}
