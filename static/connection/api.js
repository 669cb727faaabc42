/** The relay's HTTP routes, under the token. A refusal becomes an ApiRefusal. */

/** @typedef {import("../protocol/messages.d.ts").Artifact} Artifact */

export class ApiRefusal extends Error {
  /** @param {string} refused the code @param {string} why */
  constructor(refused, why) {
    super(why);
    this.name = "ApiRefusal";
    this.refused = refused;
  }
}

export class Api {
  #token;

  /** @param {string} token */
  constructor(token) {
    this.#token = token;
  }

  /** Records without html. @returns {Promise<Artifact[]>} */
  async miniApps() {
    return (await this.#ask("GET", "/api/mini-apps")).miniApps;
  }

  /** @param {string} appId @returns {Promise<Artifact>} with its html */
  async miniApp(appId) {
    return (await this.#ask("GET", `/api/mini-apps?id=${encodeURIComponent(appId)}`)).miniApp;
  }

  /** @param {string} appId */
  async deleteMiniApp(appId) {
    await this.#ask("DELETE", `/api/mini-apps?id=${encodeURIComponent(appId)}`);
  }

  /** @param {string} method @param {string} path */
  async #ask(method, path) {
    const headers = { Authorization: `Bearer ${this.#token}` };
    const response = await fetch(path, { method, headers });
    const body = await response.json();
    if (!body.ok) throw new ApiRefusal(body.refused, body.why);
    return body;
  }
}
