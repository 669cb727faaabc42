/** Texts as small numbers, in a bounded table: what comes after the bound shares one entry. */

export class Names {
  /** @type {Map<string, number>} */
  #known = new Map();
  /** @type {string[]} */
  #texts = [];
  #most;
  #rest;

  /** @param {number} most entries, at least 1 @param {string} rest what the last entry is called */
  constructor(most, rest) {
    this.#most = most;
    this.#rest = rest;
  }

  get size() {
    return this.#texts.length;
  }

  /** @param {string} text @returns {number} below `most` */
  numberOf(text) {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#texts.length >= this.#most - 1) return this.#last();
    return this.#add(text);
  }

  /** @param {number} number */
  text(number) {
    return this.#texts[number] ?? "";
  }

  /** Every text so far, each at the place of its number. */
  all() {
    return [...this.#texts];
  }

  #last() {
    return this.#known.get(this.#rest) ?? this.#add(this.#rest);
  }

  /** @param {string} text */
  #add(text) {
    this.#texts.push(text);
    this.#known.set(text, this.#texts.length - 1);
    return this.#texts.length - 1;
  }
}
