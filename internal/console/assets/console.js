// The inbox: the questions that wait, and one card. The server draws everything; this page fetches
// its changing part again when it learns that something has changed.
import { Card } from "/assets/card.js";
import { assert, register } from "/assets/passkey.js";
import { subscribe, subscription } from "/assets/push.js";

const said = document.getElementById("said");
const lost = document.getElementById("lost");
const keys = document.getElementById("keys");
const rules = { createHTML: (text) => text, createScriptURL: () => "/assets/worker.js" };
const policy = window.trustedTypes?.createPolicy("umpire", rules) ?? rules;

let card = Card.in(document, post);

// post sends a request, and returns the status and the body of the answer.
async function post(path, value) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Umpire-Page": document.body.dataset.page },
    body: JSON.stringify(value),
  });
  if (answer.status === 401) {
    location.reload();
  }
  return { ok: answer.ok, said: answer.status === 204 ? {} : await answer.json() };
}

// fetchPart fetches the changing part of an address.
async function fetchPart(address) {
  const answer = await fetch(address, { headers: { "Umpire-Part": "1" } });
  if (answer.status === 401) {
    location.reload();
  }
  if (!answer.ok) {
    throw new Error(answer.statusText);
  }
  const text = policy.createHTML(await answer.text());
  return new DOMParser().parseFromString(text, "text/html").getElementById("part");
}

let opened = 0;
let shown = location.href; // where what is shown was fetched: the address of the page goes ahead of it

// open shows another card, or the list. Of two that are opened at once the later one counts.
async function open(address, remember) {
  const mine = ++opened;
  const part = await fetchPart(address);
  if (mine !== opened) {
    return;
  }
  if (remember) {
    history.pushState(null, "", address);
  }
  say("");
  shown = address;
  document.getElementById("part").replaceWith(part);
  document.title = part.dataset.title;
  card = Card.in(document, post);
  scrollTo(0, 0);
  document.getElementById("question").focus({ preventScroll: true });
}

let busy = false;
let again = false;

// refresh brings the page up to date. The open card stays as it is while it waits; if it was
// answered elsewhere, it says so.
async function refresh() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    do {
      again = false;
      await update();
    } while (again);
    lost.hidden = true;
  } catch {
    lost.hidden = false;
  } finally {
    busy = false;
  }
}

// Nothing is replaced between mouse down and mouse up, or the click would be lost.
let released = Promise.resolve();
addEventListener("pointerdown", () => {
  released = new Promise((done) => {
    for (const name of ["pointerup", "pointercancel"]) {
      addEventListener(name, () => setTimeout(done), { once: true, capture: true });
    }
  });
}, true);

async function update() {
  const of = card;
  const here = document.getElementById("part");
  const part = await fetchPart(of ? of.address : shown);
  await released;
  if (card !== of || !here.isConnected) { // another card or page was opened meanwhile
    again = true;
    return;
  }
  document.title = part.dataset.title;
  const focused = document.activeElement?.closest?.(".item")?.dataset.request;
  for (const name of ["nav", ".list"]) {
    if (here.querySelector(name)?.innerHTML !== part.querySelector(name)?.innerHTML) {
      here.querySelector(name).replaceWith(part.querySelector(name));
    }
  }
  if (focused) {
    here.querySelector(`.item[data-request="${CSS.escape(focused)}"]`)?.focus();
  }
  if (here.classList.contains("page")) {
    updatePage(here.querySelector("main"), part.querySelector("main"));
    return;
  }
  const next = part.querySelector(".card");
  if (!card) {
    here.querySelector("main").replaceWith(part.querySelector("main"));
    card = Card.in(document, post);
  } else if (next && next.dataset.shown !== card.shown && card.isIdle) {
    card.element.replaceWith(document.adoptNode(next));
    card = Card.in(document, post);
  } else if (!next) {
    card.settle(part.querySelector(".settled")?.textContent);
  }
  card?.offerNext(nextItem(1)?.getAttribute("href"));
}

// updatePage brings a page other than the inbox up to date, unless something on it is in use.
function updatePage(here, next) {
  const focused = document.activeElement;
  const used = here.querySelector("details[open]") || here.contains(focused) && focused !== here;
  if (!used && here.innerHTML !== next.innerHTML) {
    here.replaceWith(next);
  }
}

function say(text) {
  said.textContent = text ?? "";
}

// nextItem returns the question a number of rows away from the open one.
function nextItem(step) {
  const items = [...document.querySelectorAll(".item")];
  const at = items.findIndex((item) => item.dataset.request === card?.request);
  return at < 0 ? items[0] : items[at + step];
}

// act posts what a form stands for, with the code that it may ask for.
async function act(form) {
  form.inert = true;
  try {
    const code = form.elements.code?.value.trim();
    const { ok, said } = await send(form, { ...JSON.parse(form.dataset.body), code });
    say(ok ? said.text : said.error);
    form.closest("details")?.removeAttribute("open");
    await refresh();
  } catch {
    lost.hidden = false;
  } finally {
    form.inert = false;
  }
}

// send posts a form. One for a passkey gets a challenge, and adds what the browser makes of it; one for
// notices adds where the browser takes them.
async function send(form, value) {
  if ("push" in form.dataset) {
    try {
      const made = await subscribe(form.dataset, policy.createScriptURL(""));
      return post(form.dataset.post, { ...value, ...made, ...await prove(form.dataset.challenge, made) });
    } catch (problem) {
      return { ok: false, said: { error: problem.message } };
    }
  }
  const answer = await post(form.dataset.post, value);
  if (!answer.ok || !("passkey" in form.dataset)) {
    return answer;
  }
  const name = form.elements.name.value.trim();
  try {
    return post("/passkeys/add", { ...await register(answer.said, name), name });
  } catch (problem) {
    return { ok: false, said: { error: problem.message } };
  }
}

// prove gets a challenge for a value, if there is a place for one, and returns the proof of a passkey.
async function prove(path, value) {
  if (!path) {
    return {};
  }
  const { ok, said } = await post(path, value);
  if (!ok) {
    throw new Error(said.error);
  }
  return { assertion: await assert(said) };
}

// signOut ends the sign-in, and the notices to this browser. The next page says what could not be ended.
async function signOut() {
  const made = await subscription().catch(() => undefined);
  const { said } = await post("/sign-out", { endpoint: made?.endpoint ?? "" });
  sessionStorage.setItem("said", said.text ?? "");
  await made?.unsubscribe();
  location.replace("/");
}

// sendCode has the terminal show the code that a form asks for.
async function sendCode(form) {
  form.elements.code.value = "";
  try {
    const { ok, said } = await post(form.dataset.code, JSON.parse(form.dataset.body));
    say(ok ? "" : said.error);
    form.elements.code.focus();
  } catch {
    lost.hidden = false;
  }
}

// A form that asks for a code is in a part of the page that opens.
document.addEventListener("toggle", (event) => {
  const form = event.target.querySelector("form[data-code]");
  if (event.target.open && form) {
    sendCode(form);
  }
}, true);

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.post) {
    event.preventDefault();
    act(form);
  } else if (form.dataset.path) {
    event.preventDefault();
    open(`${form.dataset.path}?${new URLSearchParams(new FormData(form))}`, true).catch(() => location.reload());
  }
});

document.addEventListener("change", (event) => {
  if (event.target.matches("form[data-path] select")) {
    event.target.form.requestSubmit();
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/']");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    open(link.getAttribute("href"), true).catch(() => location.assign(link.href));
  } else if (event.target.closest("[data-keys]")) {
    keys.showModal();
  } else if (event.target.closest("form[data-code] [data-new-code]")) {
    sendCode(event.target.closest("form"));
  } else if (event.target.closest("[data-sign-out]")) {
    signOut();
  } else {
    card?.closeMenuOutside(event.target);
  }
});

addEventListener("popstate", () => open(location.href, false).catch(() => location.reload()));

document.addEventListener("keydown", (event) => {
  const writes = event.target.closest("input:not([type=radio]), textarea, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || writes && event.key !== "Escape") {
    return;
  }
  const step = { j: 1, k: -1 }[event.key];
  if (step) {
    nextItem(step)?.click();
  } else if (event.key === "?") {
    keys.showModal();
  } else if (!card?.press(event.key)) {
    return;
  }
  event.preventDefault();
});

const events = new EventSource("/events");
events.addEventListener("pending", refresh);
events.addEventListener("event", () => document.querySelector("#part.page main:not(.slow)") && refresh());
events.addEventListener("open", refresh);
events.addEventListener("error", () => { lost.hidden = false; });
setInterval(() => document.hidden || refresh(), 30_000); // ages grow

if (location.hash) {
  history.replaceState(null, "", location.pathname + location.search);
}

document.body.dataset.ready = ""; // keys and clicks count from here on
