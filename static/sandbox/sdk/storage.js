/** localStorage and sessionStorage for a document that has none: in memory, with a quota. */

/** A Storage for this document alone, empty again after it. @param {number} unitsMax @returns {Storage} */
export function memoryStorage(unitsMax) {
  /** @type {Map<string, string>} */
  const items = new Map();
  let used = 0;
  /** @type {Record<string, (...args: any[]) => any>} */
  const methods = {
    getItem: (key) => items.get(`${key}`) ?? null,
    key: (index) => [...items.keys()][index >>> 0] ?? null,
    removeItem(key) {
      const name = `${key}`;
      const value = items.get(name);
      if (value === undefined) return;
      used -= name.length + value.length;
      items.delete(name);
    },
    setItem(key, value) {
      const name = `${key}`;
      const text = `${value}`;
      const old = items.get(name);
      const size = used + text.length - (old?.length ?? -name.length);
      if (size > unitsMax) {
        throw new DOMException("the app's storage is full", "QuotaExceededError");
      }
      used = size;
      items.set(name, text);
    },
    clear() {
      items.clear();
      used = 0;
    },
  };
  return new Proxy(Object.create(Storage.prototype), storageTraps(items, methods));
}

/**
 * @param {Map<string, string>} items
 * @param {Record<string, (...args: any[]) => any>} methods
 * @returns {ProxyHandler<any>}
 */
function storageTraps(items, methods) {
  const { getItem, removeItem, setItem } = /** @type {any} */ (methods);
  /** @param {PropertyKey} key @returns {key is string} */
  const isItem = (key) => typeof key === "string" && items.has(key);
  return {
    get(target, key) {
      if (key === "length") return items.size;
      if (typeof key === "string" && Object.hasOwn(methods, key)) return methods[key];
      return key in target || !isItem(key) ? Reflect.get(target, key) : getItem(key);
    },
    set: (target, key, value) => {
      if (typeof key !== "string") return Reflect.set(target, key, value);
      setItem(key, value);
      return true;
    },
    has: (target, key) => isItem(key) || key in target,
    deleteProperty: (_target, key) => {
      removeItem(key);
      return true;
    },
    defineProperty: (_target, key, { value }) => {
      setItem(key, value);
      return true;
    },
    ownKeys: () => [...items.keys()],
    getOwnPropertyDescriptor: (_target, key) =>
      isItem(key)
        ? { value: getItem(key), writable: true, enumerable: true, configurable: true }
        : undefined,
  };
}
