/**
 * What a person or a model does with apps on this page: launch, restart, stop, delete. Joins the
 * running apps with the cards and panels that show them; draws nothing itself.
 */

import { wordsOf } from "../connection/api.js";
import { LIMITS } from "../protocol/limits.js";
import { openSource } from "../ui/source.js";
import { APP_STATES } from "../ui/words.js";
import { watchAmbientMessages } from "./ambient.js";
import { FocusGuard } from "./focus-guard.js";
import { MiniAppRegistry } from "./registry.js";

/**
 * @typedef {import("./running-app.js").RunningApp} RunningApp
 * @typedef {import("../protocol/messages.d.ts").Artifact} Artifact
 * @typedef {{api: import("../connection/api.js").Api, stage: import("../ui/stage.js").Stage,
 *   tray: import("./tray.js").Tray, pages: import("./page-list.js").PageList, toasts: import("../ui/toasts.js").Toasts}} Parts
 * @typedef {{toolFrame: (frame: import("../protocol/messages.d.ts").ToolFrame) => void,
 *   called: (call: import("../protocol/messages.d.ts").CallTool, cancel: () => void) => void,
 *   status: (status: import("../connection/socket.js").SocketStatus) => void}} DeskListeners
 */

const LIST_SETTLE_MS = 200;
const ERROR_SHOWN_CHARS = 200;

export class AppDesk {
  #api;
  #stage;
  #tray;
  #pages;
  #toasts;
  #registry;
  #guard;
  #listing = 0;
  /** Apps of which the person was told that something fails. @type {WeakSet<RunningApp>} */
  #told = new WeakSet();
  /** Takes back the offer to stop an app that hangs. @type {WeakMap<RunningApp, () => void>} */
  #offers = new WeakMap();
  /** By id, of apps and pages on disk. @type {Map<string, string>} */
  #titles = new Map();

  /** @param {string} token @param {string} room @param {Parts} parts @param {DeskListeners} listeners */
  constructor(token, room, { api, stage, tray, pages, toasts }, listeners) {
    this.#api = api;
    this.#stage = stage;
    this.#tray = tray;
    this.#pages = pages;
    this.#toasts = toasts;
    const apps = () => this.#registry.apps;
    this.#registry = new MiniAppRegistry(token, room, {
      opened: (app) => this.#opened(app),
      changed: (app) => this.#changed(app),
      closed: (app) => this.#closed(app),
      revived: (app, culprit) =>
        toasts.tell(`${app.title} was started again: it ended together with ${culprit.title}.`),
      input: (app) => this.#guard.clicked(app),
      console: (app) => this.#console(app),
      trouble: (app, sentence) => toasts.tell(`${app.title}: ${sentence}`),
      refused: (code, why) => toasts.warn(`${why} (${code})`),
      launchWanted: (miniApp) => this.open(miniApp),
      closeWanted: (appId) => this.#find(appId, (app) => this.stop(app)),
      deleteWanted: (miniApp) => this.ask(miniApp),
      listChanged: () => this.#listSoon(),
      ...listeners,
    });
    this.#guard = new FocusGuard({
      apps,
      limits: LIMITS,
      onSteals: (app) => this.#warn(app, "keeps taking the keyboard."),
    });
    watchAmbientMessages({ apps, messagesMax: LIMITS.appMessagesPerSecondMax });
  }

  /** Draws the list of apps anew. */
  async list() {
    try {
      const miniApps = await this.#api.miniApps();
      this.#titles = new Map(miniApps.map(({ appId, title }) => [appId, title]));
      this.#tray.fill(miniApps);
      this.#pages.fill(miniApps);
    } catch (error) {
      this.#toasts.warn(`The list of apps did not load: ${wordsOf(error)}`);
    }
    for (const app of this.#registry.apps) this.#mark(app);
  }

  /** Stops the app where it runs, else launches it. @param {Artifact} miniApp */
  press(miniApp) {
    const running = this.#registry.apps.find(({ appId }) => appId === miniApp.appId);
    if (running && !running.over) this.stop(running);
    else void this.launch(miniApp);
  }

  /** Launches it, unless it runs already: then it is only shown. @param {Artifact} miniApp */
  open(miniApp) {
    const running = this.#registry.apps.find(({ appId }) => appId === miniApp.appId);
    if (!running || running.over) return void this.launch(miniApp);
    running.frame.element.scrollIntoView({ block: "nearest" });
    this.#toasts.tell(`${miniApp.title} is open already.`);
  }

  /** @param {Artifact} miniApp */
  async launch(miniApp) {
    try {
      const { appId, title, html = "" } = await this.#api.miniApp(miniApp.appId);
      this.#guard.allow(this.#registry.launch({ appId, title, html }));
    } catch (error) {
      this.#toasts.warn(`${miniApp.title} could not be launched: ${wordsOf(error)}`);
    }
  }

  /** Shows the HTML that a launch would run, as text. @param {Artifact} miniApp */
  async source({ appId, title }) {
    try {
      const { html = "" } = await this.#api.miniApp(appId);
      openSource(title, html);
    } catch (error) {
      this.#toasts.warn(`The source of ${title} did not load: ${wordsOf(error)}`);
    }
  }

  /** @param {RunningApp} app */
  restart(app) {
    this.#guard.allow(this.#registry.launch(app.launch));
  }

  /** @param {RunningApp} app */
  stop(app) {
    this.#registry.stop(app);
  }

  /** @param {string} appId @returns {string | undefined} */
  titleOf(appId) {
    const running = this.#registry.apps.find((app) => app.appId === appId);
    return running?.title ?? this.#titles.get(appId);
  }

  /** @param {RunningApp} app */
  #opened(app) {
    this.#stage.add(app);
    this.#mark(app);
  }

  /** @param {RunningApp} app */
  #closed(app) {
    this.#offers.get(app)?.();
    const hadKeyboard = this.#stage.remove(app);
    this.#tray.mark(app.appId, { running: false, note: "" });
    if (hadKeyboard) this.#tray.focus(app.appId);
  }

  /** @param {RunningApp} app */
  #changed(app) {
    const { title, state, reason } = app;
    this.#stage.show(app);
    this.#mark(app);
    this.#offers.get(app)?.();
    if (state === "lost") this.#toasts.warn(`${title} lost its connection: ${reason}`);
    if (state === "stopped") this.#toasts.warn(`${title} stopped: ${reason}`);
    if (state === "not-responding") {
      this.#offers.set(app, this.#warn(app, "is not responding."));
    }
  }

  /** Tells the first error that nobody caught; all of them stand in the app's panel. @param {RunningApp} app */
  #console(app) {
    this.#stage.showConsole(app);
    this.#mark(app);
    const uncaught = app.console.lines.find(({ level }) => level === "uncaught");
    if (!uncaught || this.#told.has(app)) return;
    this.#told.add(app);
    this.#toasts.tell(`${app.title} has an error: ${uncaught.text.slice(0, ERROR_SHOWN_CHARS)}`);
  }

  /** @param {RunningApp} app */
  #mark(app) {
    const names = app.tools.map(({ name }) => name).join(", ");
    const { count } = app.console;
    const facts = [APP_STATES[app.state]];
    if (count > 0)
      facts.push(count === 1 ? "1 line in its console" : `${count} lines in its console`);
    if (names) facts.push(`Tools: ${names}`);
    this.#tray.mark(app.appId, { running: !app.over, note: facts.join(" · ") });
  }

  /** Offers to stop it. @param {RunningApp} app @param {string} what @returns {() => void} takes the offer back */
  #warn(app, what) {
    const action = { label: `Stop ${app.title}`, run: () => this.stop(app) };
    return this.#toasts.warn(`${app.title} ${what}`, action);
  }

  /** Makes a page an app, with the document that it is. @param {Artifact} page */
  async save({ appId, title }) {
    try {
      const { html = "" } = await this.#api.miniApp(appId);
      const saved = await this.#api.saveMiniApp({ html, appId });
      this.#toasts.tell(`${saved.title} is an app now.`);
    } catch (error) {
      this.#toasts.warn(`${title} could not be saved: ${wordsOf(error)}`);
    }
  }

  /** Asks the person whether it shall be deleted. @param {Artifact} miniApp */
  ask(miniApp) {
    const action = { label: `Delete ${miniApp.title}`, run: () => void this.#delete(miniApp) };
    this.#toasts.warn(`Delete ${miniApp.title} for good?`, action);
  }

  /** @param {Artifact} miniApp */
  async #delete({ appId, title }) {
    try {
      await this.#api.deleteMiniApp(appId);
      this.#toasts.tell(`${title} is deleted.`);
    } catch (error) {
      this.#toasts.warn(`${title} could not be deleted: ${wordsOf(error)}`);
    }
  }

  #listSoon() {
    clearTimeout(this.#listing);
    this.#listing = setTimeout(() => void this.list(), LIST_SETTLE_MS);
  }

  /** @param {string} appId @param {(app: RunningApp) => void} use */
  #find(appId, use) {
    for (const app of this.#registry.apps) if (app.appId === appId) use(app);
  }
}
