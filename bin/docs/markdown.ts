// Markdown: tables, code, and YAML as people write it.
import { Document, isMap, visit } from 'yaml';

/** Rows under a head. Cells are Markdown; line breaks and bars in them are made harmless. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

const cellOf = (text: string): string => prose(text).replaceAll('\n', ' ').replaceAll('|', '\\|').trim();

/** Text that is no Markdown yet: what would be taken for a tag is not one. Inline code stays as it is. */
export const prose = (text: string): string => text.replaceAll(/`[^`]*`|</g, part => (part === '<' ? '&lt;' : part));

/** Inline code. */
export const code = (text: string): string => `\`${text}\``;

/** Several, separated. */
export const codes = (texts: readonly string[], separator = ', '): string => texts.map(code).join(separator);

/** A block of code. */
export const fence = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

const FLOW = 112;

/** A value as YAML: a map or list on one line where it fits; with `file` not the outermost one. */
export function yamlOf(value: unknown, { file = false } = {}): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Collection(key, node) {
      if (key === null && file) return;
      if (JSON.stringify(node).length <= FLOW || (isMap(node) && node.items.length === 0)) node.flow = true;
    },
    Scalar(_key, node) {
      if (typeof node.value === 'string' && isRisky(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  // A tag such as `!secret name` is text to the library.
  return document
    .toString({ lineWidth: 0 })
    .replaceAll(/"(!(?:secret|env) \w+)"/g, '$1')
    .trimEnd();
}

/** In YAML 1.2 `on`, `08:00` and `hubitat:42` are text as they are, but not to every reader: in quotes they are to all. */
const isRisky = (text: string): boolean => /^(on|off|yes|no)$/i.test(text) || /^\w[\w-]*:\S+$/.test(text);
