// The token of the link is in the fragment, which browsers never send: it is removed from the
// address at once and sent by POST.
import { assert } from "/assets/passkey.js";

const said = document.getElementById("said");
const button = document.querySelector("[data-passkey]");
const proxy = document.querySelector("[data-proxy]"); // which knows the person
// A path may begin with two slashes, which alone would be the address of another host.
const here = location.origin + location.pathname + location.search;

// post hands in what signs in, and opens the page that was asked for.
async function post(value) {
  const answer = await fetch("/sign-in", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });
  if (answer.ok) {
    location.replace(here);
    return;
  }
  said.textContent = (await answer.json()).error;
}

async function signIn() {
  const token = location.hash.slice(1);
  if (!token) {
    return;
  }
  history.replaceState(null, "", here);
  await post({ token });
}

async function signInByPasskey() {
  button.disabled = true;
  try {
    const challenge = await (await fetch("/sign-in")).json();
    await post({ challenge: challenge.challenge, assertion: await assert(challenge) });
  } catch (problem) {
    said.textContent = problem.message;
  }
  button.disabled = false;
}

const left = sessionStorage.getItem("said"); // by the page that signed out
if (left) {
  sessionStorage.removeItem("said");
  said.textContent = left;
}

signIn();
addEventListener("hashchange", signIn);
button?.addEventListener("click", signInByPasskey);
proxy?.addEventListener("click", () => post({}));
document.body.dataset.ready = "";
