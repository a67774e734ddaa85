// The key of this browser at this address. It signs every request, cannot be read by any script, and stays with the
// origin: pages of another port do not have it. The gate knows it from the sign-in on, until its listener closes.
import { bytes, toBase64 } from "/assets/passkey.js";

// Ended says that the sign-in is over.
export class Ended extends Error {}

const utf8 = (text) => new TextEncoder().encode(text);
const toBase64URL = (buffer) => toBase64(buffer).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const toHex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, "0")).join("");
const signing = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

// withStore uses the store of keys in one transaction, and returns what the request that use makes results in.
function withStore(mode, use) {
  return new Promise((done, failed) => {
    const opening = indexedDB.open("umpire", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => failed(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      try {
        const transaction = database.transaction("keys", mode);
        const request = use(transaction.objectStore("keys"));
        transaction.oncomplete = () => done(request.result);
        transaction.onabort = () => failed(transaction.error);
      } catch (problem) {
        failed(problem);
      } finally {
        database.close(); // once the transaction has ended
      }
    };
  });
}

// take returns what is kept of the sign-in, with a number that no other request of any tab has.
function take() {
  return withStore("readwrite", (store) => {
    const reading = store.get("console");
    reading.onsuccess = () => {
      const kept = reading.result;
      if (kept) {
        store.put({ ...kept, next: kept.next + 1 }, "console");
      }
    };
    return reading;
  });
}

// forget removes the key.
export const forget = () => withStore("readwrite", (store) => store.delete("console"));

// makeKey makes a key, and fails in a browser that cannot keep one.
export async function makeKey() {
  const pair = await crypto.subtle.generateKey(signing, false, ["sign"]);
  await withStore("readwrite", (store) => {
    store.put(pair.privateKey, "new");
    return store.delete("new");
  });
  return pair;
}

// signIn registers a new key with what lets it in, and returns the error if the gate refuses.
export async function signIn(value) {
  const pair = await makeKey();
  const answer = await fetch("/sign-in", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...value, key: toBase64(await crypto.subtle.exportKey("raw", pair.publicKey)) }),
  });
  const said = await answer.json();
  if (!answer.ok) {
    return said.error;
  }
  const gate = await crypto.subtle.importKey(
    "raw", bytes(said.secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const kept = { id: said.id, instance: said.instance, gate, key: pair.privateKey, next: 1 };
  await withStore("readwrite", (store) => store.put(kept, "console"));
  return "";
}

// send makes a signed request. The answer is the gate's: that of another program at this address is an error.
export async function send(path, { method = "GET", body = "", ...options } = {}) {
  const kept = await take();
  if (!kept) {
    throw new Ended();
  }
  const sum = toHex(await crypto.subtle.digest("SHA-256", utf8(body)));
  const text = ["umpire console 1", kept.instance, location.origin, kept.next, method, path, sum].join("\n");
  const signature = toBase64URL(await crypto.subtle.sign(signing, kept.key, utf8(text)));
  const header = `${kept.id}.${kept.next}.${signature}`;
  const answer = await fetch(location.origin + path, {
    ...options, method, body: body || undefined, redirect: "manual",
    headers: { ...options.headers, "Umpire-Signature": header },
  });
  const proof = bytes(answer.headers.get("Umpire-Gate") ?? "");
  if (!await crypto.subtle.verify("HMAC", kept.gate, proof, utf8(header))) {
    throw answer.status === 401 ? new Ended() : new Error("this is not the gate");
  }
  return answer;
}
