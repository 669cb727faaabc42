/** The relay's HTTP routes, under the token. A refusal becomes an ApiRefusal. */

/**
 * @typedef {{appId: string, title: string, fileName: string, kind: string, source: string}} MiniApp
 */

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

  /** @returns {Promise<MiniApp[]>} */
  async miniApps() {
    return (await this.#get("/api/mini-apps")).miniApps;
  }

  /** @param {string} appId @returns {Promise<MiniApp & {html: string}>} */
  async miniApp(appId) {
    return (await this.#get(`/api/mini-apps?id=${encodeURIComponent(appId)}`)).miniApp;
  }

  /** @param {string} path */
  async #get(path) {
    const headers = { Authorization: `Bearer ${this.#token}` };
    const response = await fetch(path, { headers });
    const body = await response.json();
    if (!body.ok) throw new ApiRefusal(body.refused, body.why);
    return body;
  }
}
