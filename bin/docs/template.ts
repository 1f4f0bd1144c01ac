// Templates of pages: prose with places `<!-- table: name -->` on lines of their own, which the sources fill.

/** Name of a place → what stands there. */
export type Tables = Readonly<Record<string, string>>;

const PLACE = /^<!-- table: ([a-z_]+) -->$/gm;

/** Fills a template; a place without a table, or a table without a place, is a mistake. */
export function fill(template: string, tables: Tables): string {
  const used = new Set<string>();
  const text = template.replaceAll(PLACE, (_place, name: string) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`nothing fills the place "${name}"`);
    used.add(name);
    return table;
  });
  const unused = Object.keys(tables).filter(name => !used.has(name));
  if (unused.length > 0) throw new Error(`the template has no place for ${unused.join(', ')}`);
  return text;
}
