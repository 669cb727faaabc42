/** The relay's token: taken from the link's fragment once, kept in this origin's storage. */

const KEY = "voicebox.token";

/** Moves a token out of the address bar into storage. @returns {string | undefined} the token */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    localStorage.setItem(KEY, given);
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  return localStorage.getItem(KEY) ?? undefined;
}

export function forgetToken() {
  localStorage.removeItem(KEY);
}
