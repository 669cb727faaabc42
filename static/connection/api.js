/** The relay's HTTP routes, under the token. A refusal becomes an ApiRefusal. */

/** @typedef {import("../protocol/messages.d.ts").Artifact} Artifact */

class ApiRefusal extends Error {
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

  /** @returns {Promise<import("../ui/shelf.js").Shelf>} */
  async shelf() {
    return this.#ask("GET", "/api/shelf");
  }

  /** @param {string} room @returns {Promise<import("../protocol/messages.d.ts").DeclaredTool[]>} */
  async tools(room) {
    return (await this.#ask("GET", `/api/tools?room=${encodeURIComponent(room)}`)).tools;
  }

  /**
   * Runs a tool; a refusal is an outcome like any other. Ending the request ends the call.
   * @param {{name: string, args: object, room: string}} call @param {AbortSignal} [signal]
   * @returns {Promise<import("../ui/try-it.js").Outcome>}
   */
  async call(call, signal) {
    return this.#send("POST", "/api/call", call, signal);
  }

  /** @param {string} method @param {string} path @param {object} [content] */
  async #ask(method, path, content) {
    const body = await this.#send(method, path, content);
    if (!body.ok) throw new ApiRefusal(body.refused, body.why);
    return body;
  }

  /** @param {string} method @param {string} path @param {object} [content] @param {AbortSignal} [signal] */
  async #send(method, path, content, signal) {
    const Authorization = `Bearer ${this.#token}`;
    const request = content
      ? {
          headers: { Authorization, "Content-Type": "application/json" },
          body: JSON.stringify(content),
        }
      : { headers: { Authorization } };
    const response = await fetch(path, { method, ...request, ...(signal && { signal }) });
    return response.json();
  }
}

/** Why a request failed, as a sentence. @param {unknown} error */
export function wordsOf(error) {
  if (error instanceof ApiRefusal) return `${error.message} (${error.refused})`;
  return error instanceof Error ? error.message : String(error);
}
