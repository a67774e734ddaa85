// Every page begins as the same shell, which holds nothing of a person's. Its script shows the console with the key
// that this browser keeps, or says how to sign in.
import { begin } from "/assets/console.js";
import { Ended, makeKey, signIn } from "/assets/key.js";
import { assert } from "/assets/passkey.js";

const shell = document.body;
const main = shell.querySelector("main");
const said = document.getElementById("said");
const proxy = main.querySelector("[data-proxy]"); // which knows the person
const passkey = main.querySelector("[data-passkey]");
const how = said.textContent;

// showSignIn says how to sign in, after what there is to say of a sign-in before. The page stays where it is:
// loading it again could load that of another program.
async function showSignIn(text) {
  said.textContent = text || how;
  document.body.replaceWith(shell);
  document.title = "umpire";
  if (proxy) {
    await offer().catch(() => undefined);
  }
  main.hidden = false;
  shell.dataset.ready = "";
}

// offer shows the buttons for those whom a passkey or a proxy lets in.
async function offer() {
  const offers = await (await fetch("/sign-in")).json();
  proxy.textContent = offers.proxy ?? "";
  proxy.parentElement.hidden = !offers.proxy;
  passkey.parentElement.hidden = !offers.passkey;
}

// enter hands in what signs in, and shows the page that was asked for.
async function enter(value) {
  try {
    const refused = await signIn(value);
    await (refused ? showSignIn(refused) : begin(showSignIn));
  } catch {
    await showSignIn(said.dataset.lost);
  }
}

// takeToken takes the token of a link off the address, where browsers never send it from.
function takeToken() {
  const token = location.hash.slice(1);
  if (token) {
    // A path may begin with two slashes, which alone would be the address of another host.
    history.replaceState(null, "", location.origin + location.pathname + location.search);
  }
  return token;
}

async function start() {
  const token = takeToken();
  let problem;
  try {
    await begin(showSignIn);
    return;
  } catch (caught) {
    problem = caught;
  }
  try {
    await makeKey(); // a link is not used up in a browser that cannot keep keys
  } catch {
    await showSignIn(said.dataset.keyless);
    return;
  }
  await (token ? enter({ token }) : showSignIn(problem instanceof Ended ? "" : said.dataset.lost));
}

addEventListener("hashchange", () => {
  const token = takeToken();
  if (token && shell.isConnected) {
    enter({ token });
  }
});
proxy?.addEventListener("click", () => enter({}));
passkey?.addEventListener("click", async () => {
  passkey.disabled = true;
  try {
    const challenge = await (await fetch("/sign-in")).json();
    await enter({ challenge: challenge.challenge, assertion: await assert(challenge) });
  } catch (problem) {
    said.textContent = problem.message;
  }
  passkey.disabled = false;
});

start();
