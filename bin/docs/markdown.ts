// Markdown: tables, code, YAML as people write it.
import { Document, isMap, isPair, isScalar, isSeq, visit } from 'yaml';

/** Rows under a head. Cells are Markdown; line breaks and bars in them are made harmless. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

const cellOf = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|').trim();

/** Inline code. */
export const code = (text: string): string => `\`${text}\``;

/** Several, separated. */
export const codes = (texts: readonly string[], separator = ' '): string => texts.map(code).join(separator);

/** A block of code. */
export const fence = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

const WIDTH = 110;

/** A value as YAML: maps and lists on one line where they fit. */
export function yamlOf(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, node) {
      // A map that fits on a line, and a list of plain values, are read more easily so.
      const text = JSON.stringify(node.toJSON());
      if (text.length <= WIDTH - 20 && !(isMap(node) && node === document.contents)) node.flow = true;
      if (isSeq(node) && node.items.some(item => isMap(item) && item.items.length > 1)) node.flow = false;
      return undefined;
    },
    Scalar(key, node) {
      // Plain `on` and `off` are text in YAML 1.2, but not to every reader: quoted they are text to all.
      if (key !== 'key' && isScalar(node) && /^(?:on|off|yes|no|true|false)$/i.test(String(node.value))) {
        if (typeof node.value === 'string') node.type = 'QUOTE_DOUBLE';
      }
      return undefined;
    },
    Pair(_key, pair) {
      return isPair(pair) ? undefined : visit.SKIP;
    },
  });
  return document.toString({ lineWidth: WIDTH, flowCollectionPadding: true }).trimEnd();
}
