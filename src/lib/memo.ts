// Remembers what was derived from an immutable object for as long as that object lives.

/** `derive` once per object. */
export function memoByObject<K extends object, V>(derive: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { value: V }>();
  return key => {
    let entry = known.get(key);
    if (!entry) known.set(key, (entry = { value: derive(key) }));
    return entry.value;
  };
}
