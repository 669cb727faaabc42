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

  /**
   * Saves a document under the id that it has, or makes a page an app.
   * @param {{html: string, appId: string}} body @returns {Promise<Artifact>} without html
   */
  async saveMiniApp(body) {
    return (await this.#ask("POST", "/api/mini-apps", body)).miniApp;
  }

  /** @param {string} appId */
  async deleteMiniApp(appId) {
    await this.#ask("DELETE", `/api/mini-apps?id=${encodeURIComponent(appId)}`);
  }

  /** @returns {Promise<import("../ui/shelf.js").ShelfTool[]>} */
  async shelf() {
    return (await this.#ask("GET", "/api/shelf")).tools ?? [];
  }

  /** @param {string} room @returns {Promise<import("../protocol/messages.d.ts").DeclaredTool[]>} */
  async tools(room) {
    return (await this.#ask("GET", `/api/tools?room=${encodeURIComponent(room)}`)).tools;
  }

  /**
   * Runs a tool; a refusal is an outcome like any other.
   * @param {{name: string, args: object, room: string}} call
   * @returns {Promise<import("../ui/try-it.js").Outcome>}
   */
  async call(call) {
    try {
      return await this.#ask("POST", "/api/call", call);
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error;
      return { ok: false, refused: error.refused, why: error.message };
    }
  }

  /** @param {string} method @param {string} path @param {object} [content] */
  async #ask(method, path, content) {
    const Authorization = `Bearer ${this.#token}`;
    const request = content
      ? {
          headers: { Authorization, "Content-Type": "application/json" },
          body: JSON.stringify(content),
        }
      : { headers: { Authorization } };
    const response = await fetch(path, { method, ...request });
    const body = await response.json();
    if (!body.ok) throw new ApiRefusal(body.refused, body.why);
    return body;
  }
}
