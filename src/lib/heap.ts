// A binary heap with removal by handle: pending timers of the engine and of the virtual clock. A sorted array or
// rxjs' VirtualTimeScheduler is quadratic at 100,000 timers.

/** An entry of a `Heap`; keep it to remove the entry again. */
export interface HeapEntry<T> {
  readonly due: number;
  readonly value: T;
  /** Order among entries of one due time: the older first, then by number. */
  readonly since: number;
  readonly order: number;
  /** Place in the heap, -1 once it left it. */
  index: number;
}

/** Smallest `due` first, then smallest `since` (0 unless given), then smallest `order` (insertion order unless given). */
export class Heap<T> {
  private readonly items: HeapEntry<T>[] = [];
  private counter = 0;

  get size(): number {
    return this.items.length;
  }

  peek(): HeapEntry<T> | undefined {
    return this.items[0];
  }

  push(due: number, value: T, order = this.counter++, since = 0): HeapEntry<T> {
    const entry = { due, value, since, order, index: this.items.length };
    this.items.push(entry);
    this.up(entry.index);
    return entry;
  }

  pop(): HeapEntry<T> | undefined {
    const top = this.items[0];
    if (top) this.remove(top);
    return top;
  }

  remove(entry: HeapEntry<T>): void {
    const at = entry.index;
    if (at < 0) return;
    entry.index = -1;
    const last = this.items.pop() as HeapEntry<T>;
    if (last === entry) return;
    this.items[at] = last;
    last.index = at;
    this.up(at);
    this.down(last.index);
  }

  private before(a: HeapEntry<T>, b: HeapEntry<T>): boolean {
    if (a.due !== b.due) return a.due < b.due;
    return a.since < b.since || (a.since === b.since && a.order < b.order);
  }

  private swap(i: number, j: number): void {
    const a = this.items[i] as HeapEntry<T>;
    const b = this.items[j] as HeapEntry<T>;
    this.items[i] = b;
    this.items[j] = a;
    b.index = i;
    a.index = j;
  }

  private up(i: number): void {
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.before(this.items[i] as HeapEntry<T>, this.items[parent] as HeapEntry<T>)) return;
      this.swap(i, parent);
      i = parent;
    }
  }

  private down(i: number): void {
    const n = this.items.length;
    for (;;) {
      const left = 2 * i + 1;
      const right = left + 1;
      let least = i;
      if (left < n && this.before(this.items[left] as HeapEntry<T>, this.items[least] as HeapEntry<T>)) least = left;
      if (right < n && this.before(this.items[right] as HeapEntry<T>, this.items[least] as HeapEntry<T>)) least = right;
      if (least === i) return;
      this.swap(i, least);
      i = least;
    }
  }
}
