// The console: the questions that wait, one card, and the other pages. The gate draws everything; the page fetches
// its changing part again when it learns that something has changed. All requests are signed.
import { Card } from "/assets/card.js";
import { Ended, forget, send } from "/assets/key.js";
import { assert, register } from "/assets/passkey.js";
import { subscribe, subscription } from "/assets/push.js";

let said;
let lost;
let keys;
let card;
let ended; // is called when the sign-in is over
let life; // ends with the sign-in
let apart = false; // the gate is not at the other end, as far as the page knows
const rules = { createHTML: (text) => text, createScriptURL: () => "/assets/worker.js" };
const policy = window.trustedTypes?.createPolicy("umpire", rules) ?? rules;

// ask sends a request while the gate is there, and nothing to another program that came after it.
async function ask(path, options) {
  if (apart) {
    throw new Error(lost.textContent);
  }
  try {
    return await repeat(path, options);
  } catch (problem) {
    if (problem instanceof Ended) {
      end();
    }
    throw problem;
  }
}

// repeat sends a request, and once more if it was too late for its number.
async function repeat(path, options) {
  const language = localStorage.getItem("language"); // that the person has chosen
  const spoken = language ? { ...options, headers: { ...options?.headers, "Umpire-Language": language } } : options;
  const answer = await send(path, spoken);
  return answer.status === 412 ? send(path, spoken) : answer;
}

const isPage = (answer) => answer.headers.get("Content-Type")?.startsWith("text/html");

// post sends a request, and returns the status and the body of the answer.
async function post(path, value) {
  const answer = await ask(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value),
  });
  return { ok: answer.ok, said: answer.status === 204 ? {} : await answer.json() };
}

// parse reads a page that the gate has drawn.
const parse = (text) => new DOMParser().parseFromString(policy.createHTML(text), "text/html");

// fetchPart fetches the changing part of an address.
async function fetchPart(address) {
  const { pathname, search } = new URL(address, location.href);
  const answer = await ask(pathname + search, { headers: { "Umpire-Part": "1" } });
  if (!isPage(answer)) {
    throw new Error(answer.statusText);
  }
  return parse(await answer.text()).getElementById("part");
}

let opened = 0;
let shown; // where what is shown was fetched: the address of the page goes ahead of it

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
  card = cardHere();
  scrollTo(0, 0);
  document.getElementById("question").focus({ preventScroll: true });
}

const cardHere = () => Card.in(document, post, goOn);

// goOn opens the next call after an answer, and says how the last one was answered.
async function goOn(text) {
  const { session } = card.element.dataset;
  try {
    await open("/?" + new URLSearchParams({ after: session }), false);
    history.replaceState(null, "", card ? card.address : "/");
    say(text);
  } catch {
    lost.hidden = false;
  }
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
  if ("problem" in part.dataset && !("problem" in here.dataset)) {
    throw new Error(part.dataset.title); // what is shown stays
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
    card = cardHere();
  } else if (next && next.dataset.shown !== card.shown && (card.isIdle || next.dataset.request !== card.request)) {
    card.element.replaceWith(document.adoptNode(next));
    card = cardHere();
  } else if (!next) {
    card.settle(part.querySelector(".settled")?.textContent);
  }
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

// move opens the question a number of rows away from the open one, or selects another row of a page.
function move(step) {
  const items = [...document.querySelectorAll(".item, .lines summary.row, .session > .tool")];
  const at = items.findIndex((item) => card ? item.dataset.request === card.request : item === document.activeElement);
  const next = at < 0 ? items[0] : items[at + step];
  next?.[next.matches(".item") ? "click" : "focus"]();
}

// presses are what keys do on every page.
const presses = {
  j: () => move(1), k: () => move(-1), "?": () => keys.showModal(), "/": () => find("[type=search]")?.focus(),
  l: () => find("[data-language]")?.click(), u: () => inRow(".undo > summary")?.click(),
  x: () => inRow(".act > summary")?.click(), e: () => find(".card > details:last-of-type > summary")?.click(),
  a: () => find("[data-allow]:enabled")?.click(),
};
const find = (selector) => document.querySelector(selector);

// inRow finds an element in the selected row, or else the first of the page.
function inRow(selector) {
  return (document.activeElement.closest(".event, .session, .changes li") ?? document).querySelector(selector);
}

// act posts what a form stands for, with the code that it may ask for.
async function act(form) {
  form.inert = true;
  try {
    const code = form.elements.code?.value.trim();
    const { ok, said } = await submit(form, { ...JSON.parse(form.dataset.body), code });
    say(ok ? said.text : said.error);
    form.closest("details")?.removeAttribute("open");
    await refresh();
  } catch {
    lost.hidden = false;
  } finally {
    form.inert = false;
  }
}

// load fetches what a row of the timeline opens to.
async function load(row) {
  try {
    const part = await fetchPart(row.dataset.load);
    row.querySelector(".opened").replaceChildren(...part.querySelector("main").childNodes);
  } catch {
    complain();
  }
}

// submit posts a form. One for a passkey gets a challenge, and adds what the browser makes of it; one for
// notices adds where the browser takes them.
async function submit(form, value) {
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

// signOut ends the sign-in, and the notices to this browser, and says what could not be ended. Without its key
// the sign-in is over in any case.
async function signOut() {
  life.abort(); // a request that is on the way may find the sign-in over
  const made = await subscription().catch(() => undefined);
  let text = "";
  try {
    text = (await post("/sign-out", { endpoint: made?.endpoint ?? "" })).said.text;
  } catch (problem) {
    text = problem.message;
  }
  await forget();
  await made?.unsubscribe();
  history.replaceState(null, "", "/");
  ended(text);
}

// speak shows the console in another language, and keeps to it in this browser.
async function speak(language) {
  localStorage.setItem("language", language);
  life.abort();
  await begin(ended).catch(complain);
}

// copy copies a command, and selects it where the browser does not let a page copy.
async function copy(command) {
  getSelection().selectAllChildren(command);
  await navigator.clipboard?.writeText(command.textContent).catch(() => undefined);
}

// end leaves the console when the gate says that the sign-in is over.
function end() {
  if (!life.signal.aborted) {
    life.abort();
    ended("");
  }
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

// begin shows the console at the address of the page. It fails with Ended if the browser is not signed in; when
// that is so later, it calls whenEnded with what there is to say.
export async function begin(whenEnded) {
  const answer = await repeat(location.pathname + location.search);
  if (!isPage(answer)) {
    throw new Error((await answer.json()).error);
  }
  const frame = parse(await answer.text());
  ended = whenEnded;
  life = new AbortController();
  apart = false;
  document.documentElement.lang = frame.documentElement.lang;
  document.title = frame.title;
  document.body.replaceWith(frame.body);
  [said, lost, keys] = ["said", "lost", "keys"].map((id) => document.getElementById(id));
  shown = location.href;
  card = cardHere();
  listen(life.signal);
  follow(life.signal);
  document.body.dataset.ready = ""; // keys and clicks count from here on
}

// follow learns what has changed, by server-sent events. While they do not come, the gate may be gone, and another
// program at its address: the page then asks for nothing else.
async function follow(signal) {
  while (!signal.aborted) {
    try {
      const answer = await repeat("/events", { signal });
      apart = !answer.ok;
      refresh();
      for await (const name of eventsOf(answer.body)) {
        if (name === "pending" || document.querySelector("#part.page main:not(.slow)")) {
          refresh();
        }
      }
    } catch (problem) {
      if (problem instanceof Ended) {
        end();
      }
    }
    if (signal.aborted) {
      return;
    }
    apart = true;
    lost.hidden = false;
    await new Promise((done) => setTimeout(done, 3000));
  }
}

// eventsOf returns the names of the events in a stream.
async function* eventsOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "", read = await reader.read(); !read.done; read = await reader.read()) {
    const blocks = (text + read.value).split("\n\n");
    text = blocks.pop();
    yield* blocks.map((block) => /^event: (.*)$/m.exec(block)?.[1]).filter(Boolean);
  }
}

// listen takes what the person does, until the sign-in ends.
function listen(signal) {
  // A form that asks for a code is in a part of the page that opens.
  document.addEventListener("toggle", (event) => {
    const form = event.target.querySelector("form[data-code]");
    if (event.target.open && form) {
      sendCode(form);
    } else if (event.target.open && event.target.dataset.load) {
      load(event.target);
    }
  }, { capture: true, signal });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.post) {
      event.preventDefault();
      act(form);
    } else if (form.dataset.path) {
      event.preventDefault();
      visit(`${form.dataset.path}?${new URLSearchParams(new FormData(form))}`);
    }
  }, { signal });

  document.addEventListener("change", (event) => {
    if (event.target.matches("form[data-path] select")) {
      event.target.form.requestSubmit();
    }
  }, { signal });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='/']");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      visit(link.getAttribute("href"));
    } else if (event.target.closest("[data-keys]")) {
      keys.showModal();
    } else if (event.target.closest("form[data-code] [data-new-code]")) {
      sendCode(event.target.closest("form"));
    } else if (event.target.closest("[data-sign-out]")) {
      signOut();
    } else if (event.target.closest("[data-language]")) {
      speak(event.target.closest("[data-language]").dataset.language);
    } else if (event.target.closest("[data-copy]")) {
      copy(event.target.closest("[data-copy]").previousElementSibling);
    } else {
      card?.closeMenuOutside(event.target);
    }
  }, { signal });

  addEventListener("popstate", () => location.hash || open(location.href, false).catch(complain), { signal });

  document.addEventListener("keydown", (event) => {
    const writes = event.target.closest("input:not([type=radio]), textarea, dialog");
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || writes && event.key !== "Escape") {
      return;
    }
    if (event.key >= "1" && event.key <= "5") {
      document.querySelectorAll("nav a[href^='/']")[event.key - 1]?.click();
    } else if (card?.press(event.key)) {
      // the card has taken it
    } else if (Object.hasOwn(presses, event.key)) {
      presses[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }, { signal });

  const timers = [setInterval(() => document.hidden || refresh(), 30_000), setInterval(tick, 1_000)];
  signal.addEventListener("abort", () => timers.forEach(clearInterval));
}

// tick lets ages grow.
function tick() {
  for (const time of document.querySelectorAll("time[data-age]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000));
    const age = seconds < 60 ? `${seconds}s` : seconds < 3600 ? `${Math.floor(seconds / 60)}m`
      : seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86400)}d`;
    if (time.textContent !== age) {
      time.textContent = age;
    }
  }
}

// visit opens an address of the console.
const visit = (address) => open(address, true).catch(complain);

function complain() {
  lost.hidden = false;
}
