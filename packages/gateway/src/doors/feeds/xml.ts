/** Writes any text as XML 1.0 (fifth edition). */

/** Characters that no XML document may have (section 2.2), except for lone surrogates. */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** With line ends and tabs: parsers turn them into spaces in attributes, and drop CR. */
const ESCAPED_IN_ATTRIBUTE = /[&<>"'\r\t\n]/g;
const ESCAPED_IN_TEXT = /[&<>\r]/g;

function characterReference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}

function allowed(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, '\ufffd');
}

function xmlText(text: string): string {
  return allowed(text).replace(ESCAPED_IN_TEXT, characterReference);
}

/** `name="value"`, with a space before it. */
export function attribute(name: string, value: string): string {
  return ` ${name}="${allowed(value).replace(ESCAPED_IN_ATTRIBUTE, characterReference)}"`;
}

/** `attributes` are the results of `attribute`. */
export function element(name: string, text: string, attributes = ''): string {
  return `<${name}${attributes}>${xmlText(text)}</${name}>`;
}
